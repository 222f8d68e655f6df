import { expect, test } from "vitest";
import { sandboxErrors } from "../../../sandbox/lib/errors/sandbox-error.ts";
import { errorCodes } from "../../../server/errors/catalogue.ts";
import { accessibilityFaults, contrastFaults, type TestBrowser } from "../browser.ts";
import { sharePages } from "../share-pages.ts";

let browser: TestBrowser;
let docs: string;

sharePages("documentation page", (sandbox, opened) => {
  browser = opened;
  docs = sandbox.description.urls.docs;
});

test("a search finds a section of any document and leads to it", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/`);
  await page.getByRole("searchbox").fill("revoked funding");
  const found = page.getByRole("region", { name: "Search results" });
  await found
    .getByRole("link", { name: /^Contracts: / })
    .first()
    .click();
  await page.waitForURL(/\/docs\/contracts\.md#./);
  await page.getByRole("heading", { name: "Contracts", level: 1 }).waitFor();
  // A section must have each word.
  await page.getByRole("searchbox").fill("funding nothing-has-this-word");
  await page.getByText('No section has "funding nothing-has-this-word".').waitFor();
  await page.getByRole("searchbox").press("Escape");
  expect(await page.getByRole("heading", { name: "Contracts", level: 1 }).isVisible()).toBe(true);
});

test("Enter in the search opens the first result", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/`);
  await page.getByRole("searchbox").fill("nonces");
  const first = page.getByRole("region", { name: "Search results" }).getByRole("link").first();
  const address = await first.getAttribute("href");
  await page.getByRole("searchbox").press("Enter");
  await page.waitForURL(`${docs}${address}`);
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
});

test("the first result for an error code is the page of the code", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/`);
  for (const code of errorCodes) {
    await page.getByRole("searchbox").fill(code);
    const first = page.locator(`#found li:first-child a[href="/errors/${code}"]`);
    expect(await first.textContent()).toBe(`Error codes: ${code}`);
  }
});

test("the first result for a code of the package's errors explains it", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/`);
  for (const code of [...Object.keys(sandboxErrors), "given_invalid", "store_damaged"]) {
    await page.getByRole("searchbox").fill(code);
    const marked = page.locator("mark", { hasText: code });
    const first = page.locator("#found li:first-child").filter({ has: marked });
    expect(await first.getByRole("link").textContent()).toBe("Options of createSandbox: Errors");
    expect(await first.locator("p").textContent()).toMatch(new RegExp(`${code}\\)?: [A-Z].{20}`));
  }
});

// Swagger UI is 1.7 MB of script, which two busy cores take seconds to run.
test("the first result for an operation opens it in the reference", async () => {
  const page = await browser.open();
  for (const [id, hash] of [
    ["createPurchase", "#/Purchases/createPurchase"],
    ["on.refund.collected", "#/webhooks/on.refund.collected"],
  ] as const) {
    await page.goto(`${docs}/`);
    await page.getByRole("searchbox").fill(id);
    await page.locator("#found li:first-child a").click();
    await page.locator(".opblock.is-open").waitFor({ timeout: 50_000 });
    expect(new URL(page.url()).hash).toBe(hash);
  }
});

test("the search ends where the text of a page does", async () => {
  const page = await browser.open({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${docs}/docs/pages.md`);
  const ends = ["#search input", "article"].map(async (selector) => {
    const { x, width } = (await page.locator(selector).boundingBox()) ?? { x: 0, width: 0 };
    return Math.round(x + width);
  });
  expect(new Set(await Promise.all(ends)).size).toBe(1);
});

test("a result of a search is a sentence, in which the words of the search are marked", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/`);
  await page.getByRole("searchbox").fill("LOST response");
  const results = page.getByRole("region", { name: "Search results" }).getByRole("listitem");
  await results.first().waitFor();
  for (const result of await results.all()) {
    const marks = await result.locator("mark").allTextContents();
    expect(marks.length, String(await result.textContent())).toBeGreaterThan(0);
    for (const mark of marks) expect(mark).toMatch(/^(?:lost|response)$/i);
  }
  const retry = results.filter({ hasText: "API behavior: Retry after a lost response" }).locator("p");
  expect(await retry.textContent()).toMatch(/^[A-Z][^|]*[.:]$/);
});

test("on a phone the results of a search have a heading, and none is wider than the phone", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 740 } });
  await page.goto(`${docs}/`);
  await page.getByRole("searchbox").fill("refund");
  await page.getByRole("heading", { level: 1, name: "Search results" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await page.locator("#found").textContent()).not.toMatch(/\]\(|<!--|---/);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test("on a phone no button covers code, and no link of the home page is broken within a word", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 740 } });
  await page.goto(`${docs}/`);
  const link = page.locator("main").getByRole("link", { name: "notifications", exact: true });
  expect(await link.evaluate((found) => found.getClientRects().length)).toBe(1);
  await page.goto(`${docs}/docs/contracts.md`);
  const gaps = await page.locator("figure.code").evaluateAll((blocks) =>
    blocks.map((block) => {
      const [code, button] = [block.querySelector("pre code, pre"), block.querySelector("button")];
      const text = document.createRange();
      if (code !== null) text.selectNodeContents(code);
      return text.getBoundingClientRect().top - (button?.getBoundingClientRect().bottom ?? 0);
    }),
  );
  expect(gaps.filter((gap) => gap < 0)).toEqual([]);
});

test("a name with hyphens is not broken after one", async () => {
  for (const width of [390, 1280]) {
    const page = await browser.open({ viewport: { width, height: 740 } });
    for (const path of ["docs/options.md", "docs/cli.md", "docs/control.md"]) {
      await page.goto(`${docs}/${path}`);
      expect(await page.evaluate(brokenNames), `${path}, ${width} wide`).toEqual([]);
    }
  }
});

/** Returns the short names with hyphens in the text that are on more than one line. */
function brokenNames(): string[] {
  const code = [...document.querySelectorAll("article :not(pre) > code")];
  const texts = code.flatMap((element) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes: Node[] = [];
    while (walker.nextNode() !== null) nodes.push(walker.currentNode);
    return nodes;
  });
  return texts.flatMap((node) =>
    [...(node.textContent ?? "").matchAll(/[^ ]*-[^ ]*/g)].flatMap(({ 0: name, index }) => {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + name.length);
      return name.length <= 20 && range.getClientRects().length > 1 ? [name] : [];
    }),
  );
}

test("an element that the keyboard goes back to is not hidden below the header", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/portal/docs.md`);
  await page.locator("main a").last().focus();
  for (let steps = 0; steps < 40; steps += 1) {
    await page.keyboard.press("Shift+Tab");
    const [top, bottom] = await page.evaluate(() => [
      document.activeElement?.getBoundingClientRect().top,
      document.querySelector("body > header")?.getBoundingClientRect().bottom,
    ]);
    expect(top).toBeGreaterThanOrEqual(bottom ?? 0);
  }
});

test("a block of code is copied as it is", async () => {
  const page = await browser.open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${docs}/portal/docs.md`);
  const block = page.locator("figure.code", { hasText: "reviewer.mjs" }).filter({ hasText: "RFC 8785" });
  await block.getByRole("button", { name: "Copy" }).click();
  await block.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(async () => await navigator.clipboard.readText());
  expect((await (await fetch(`${docs}/portal/docs.md`)).text()).includes(copied)).toBe(true);
  expect(copied).toContain("base64url");
});

test("on a phone's width axe finds nothing on a page, in light and dark, and the list of pages opens", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 740 } });
  for (const path of ["/", "/portal/docs.md", "/docs/api.md", "/docs/tests.md", "/errors/binding_mismatch"]) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(docs + path);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(390);
    expect(await accessibilityFaults(page), path).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await contrastFaults(page), path).toEqual([]);
  }
  await page.getByText("All pages").click();
  await page.getByRole("link", { name: "Notifications", exact: true }).click();
  await page.getByRole("heading", { name: "Notifications", level: 1 }).waitFor();
});

test("on a phone the guide begins with its title and its first sentence; the list of sections is closed after them", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 740 } });
  await page.goto(`${docs}/portal/docs.md`);
  const top = async (text: string | RegExp) => (await page.getByText(text).first().boundingBox())?.y ?? -1;
  const list = page.getByRole("navigation", { name: "On this page" });
  await list.waitFor({ state: "hidden" });
  const title = (await page.getByRole("heading", { level: 1 }).boundingBox())?.y ?? -1;
  const sentence = await top(/^The sandbox runs a service/);
  expect([0, title, sentence, await top("On this page"), 740]).toEqual(
    [0, title, sentence, await top("On this page"), 740].toSorted((left, right) => left - right),
  );
  await page.getByText("On this page").click();
  await list.getByRole("link", { name: "Idempotency" }).click();
  await page.waitForURL(/#idempotency$/);
});

test("on a desktop's width the list of sections is open below the first sentence", async () => {
  const page = await browser.open();
  await page.goto(`${docs}/portal/docs.md`);
  const list = page.getByRole("navigation", { name: "On this page" });
  await list.waitFor();
  const sentence = await page.getByText(/^The sandbox runs a service/).boundingBox();
  expect((await list.boundingBox())?.y).toBeGreaterThan(sentence?.y ?? Number.NaN);
});
