import { expect, test } from "vitest";
import { accessibilityFaults, contrastFaults, type TestBrowser } from "./browser.ts";
import { sharePages } from "./share-pages.ts";

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
  await page.getByRole("heading", { name: "The contracts", level: 1 }).waitFor();
  await page.getByRole("searchbox").fill("nothing-has-this-word");
  await page.getByText('No section has "nothing-has-this-word".').waitFor();
  await page.getByRole("searchbox").press("Escape");
  expect(await page.getByRole("heading", { name: "The contracts", level: 1 }).isVisible()).toBe(true);
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
