import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../../sandbox/lib/package-root.ts";
import { defaultUrls } from "../../../server/documentation/at-addresses.ts";
import { operations } from "../../../server/operations.ts";
import { eventTypeNames } from "../../../server/schemas/event-types.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let docs: string;

beforeAll(async () => {
  kit = await TestKit.shared();
  docs = kit.sandbox.description.urls.docs;
});

async function read(path: string, accept: string) {
  const answer = await fetch(new URL(path, docs), { headers: { accept }, redirect: "manual" });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** The addresses that a page links to and loads, with the page's own for its sections. */
function addressesOf(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, url]) =>
    String(url).replaceAll("&amp;", "&"),
  );
}

test("every document is listed on every page, and is a page to a browser and Markdown to a program", async () => {
  const files = (await readdir(join(packageRoot(), "docs"))).filter((name) => name.endsWith(".md"));
  expect(files.length).toBeGreaterThan(10);
  const paths = [...files.map((name) => `/docs/${name}`), "/README.md", "/CHANGELOG.md"];
  const home = await read("/", browser);
  for (const path of [...paths, "/portal/docs.md"]) {
    expect(home.text, path).toContain(`href="${path}"`);
    const page = await read(path, browser);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("vary")).toBe("Accept");
    expect(page.text).toContain(`href="${path}" aria-current="page"`);
    const markdown = await read(path, "*/*");
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(markdown.headers.get("access-control-allow-origin")).toBe(kit.base);
    const [, title = ""] = /^# (.*)$/m.exec(markdown.text) ?? [];
    expect(page.text).toContain(`<title>${title}`);
  }
});

test("every page of docs/ begins with a paragraph that says what it is for", async () => {
  const folder = join(packageRoot(), "docs");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md"));
  for (const name of names) {
    const text = (await readFile(join(folder, name), "utf8")).replaceAll(/<!--.*?-->\n\n/gs, "");
    expect(text, name).toMatch(/^# [^\n]+\n\n[A-Z`](?:[^\n]+\n){1,3}/);
  }
});

test("every link of every page leads to a page, and every fragment to a section of it", async () => {
  const pages = new Map<string, string>();
  const waiting = ["/"];
  const sections: { from: string; path: string; fragment: string }[] = [];
  const others = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const { status, headers, text } = await read(path, browser);
    expect(status, path).toBe(200);
    pages.set(path, text);
    if (!headers.get("content-type")?.startsWith("text/html")) continue;
    for (const address of addressesOf(text)) {
      const url = new URL(address, new URL(path, docs));
      if (url.origin !== docs) others.add(url.href);
      else {
        waiting.push(url.pathname);
        if (url.hash !== "") sections.push({ from: path, path: url.pathname, fragment: url.hash.slice(1) });
      }
    }
  }
  expect(pages.size).toBeGreaterThan(60);
  expect(sections.length).toBeGreaterThan(200);
  for (const { from, path, fragment } of sections)
    expect(pages.get(path), `${from} links to ${path}#${fragment}`).toContain(`id="${fragment}"`);
  const local = Object.values(kit.sandbox.description.urls);
  const reachable = [...others].filter((url) => local.includes(new URL(url).origin));
  expect(reachable.length).toBeGreaterThan(3);
  for (const url of reachable) expect((await fetch(url)).status, url).toBe(200);
  expect(pages.get("/")).toContain("<title>Routing sandbox</title>");
});

describe("the documentation host", () => {
  test("shows a browser that asks for an unknown page where to look", async () => {
    const { status, text } = await read("/docs/<img src=x>.md", browser);
    expect(status).toBe(404);
    expect(text).toContain("<h1>Not found</h1>");
    expect(text).toContain("/docs/%3Cimg%20src=x%3E.md</code>");
    expect(text).toContain('href="/portal/docs.md"');
  });

  test("says at its root where everything is, as a page and as Markdown", async () => {
    const { api, control, rpc } = kit.sandbox.description.urls;
    for (const accept of [browser, "*/*"])
      for (const url of [api, control, rpc, docs]) expect((await read("/", accept)).text).toContain(url);
    const portal = await read("/portal", browser);
    expect([portal.status, portal.headers.get("location")]).toEqual([308, "/"]);
  });

  test("has all documents in one text for agents, with the guide's values", async () => {
    const { text } = await read("/llms-full.txt", "*/*");
    expect(text).toContain((await read("/llms.txt", "*/*")).text.trim());
    for (const path of ["/portal/docs.md", "/docs/api.md", "/docs/relayer.md"])
      expect(text).toContain((await read(path, "*/*")).text.trim());
    expect(text).not.toMatch(/\{\{/);
  });

  test("has the addresses of this sandbox in every document, not the default ones", async () => {
    const { text } = await read("/llms-full.txt", "*/*");
    // A port may begin with the digits of a default one.
    for (const url of Object.values(defaultUrls)) expect(text).not.toMatch(new RegExp(`${url}(?!\\d)`));
    expect((await read("/docs/api.md", browser)).text).toContain(`href="${docs}/errors/not_found"`);
  });

  test("lists every section for its search, each at an address that the page has", async () => {
    const { text } = await read("/docs/search.json", "*/*");
    const sections: { url: string; heading: string; text: string }[] = JSON.parse(text);
    expect(sections.length).toBeGreaterThan(100);
    const isOperation = ({ url }: { url: string }) => url.startsWith("/reference/#/");
    expect(sections.filter(isOperation).map(({ heading }) => heading)).toEqual([
      ...operations.map(({ id }) => id),
      ...eventTypeNames.map((type) => `on.${type}`),
    ]);
    // The reference draws its sections itself.
    for (const { url, heading } of sections.filter((section) => !isOperation(section))) {
      expect(heading).not.toBe("");
      const [path = "", fragment] = url.split("#");
      const page = await read(path, browser);
      if (fragment === undefined) expect(page.status).toBe(200);
      else expect(page.text).toContain(`id="${fragment}"`);
    }
    expect(sections.find(({ text: words }) => words.includes("payWithPermit"))).toBeDefined();
  });

  test.each([
    ["closed", "/docs/options.md#errors"],
    ["mismatch", "/docs/options.md#errors"],
    ["store_damaged", "/docs/options.md#errors"],
    ["anvil_failed", "/docs/options.md#errors"],
    ["credential", "/portal/docs.md#keys-and-secrets"],
    ["ports", "/docs/options.md#options"],
    ["funding_cap", "/docs/api.md#body-fields"],
    ["capabilities", "/reference/#/Service/capabilities"],
    ["purchase.claimed", "/docs/notifications.md#events"],
    ["crash", "/docs/faults.md#common-faults"],
    ["start", "/docs/cli.md#start"],
    ["Claim_Window_Closed", "/errors/claim_window_closed"],
    ["travel time", "/docs/time.md#travel"],
  ])("finds %s as a name before names that contain it", async (words, url) => {
    const { text } = await read(`/docs/search.json?${new URLSearchParams({ q: words })}`, "*/*");
    expect(JSON.parse(text)[0].url).toBe(url);
  });

  test("keeps the section that a link between documents names", async () => {
    const { text } = await read("/docs/tests.md", browser);
    expect(text).toContain('href="/docs/control.md#control-the-sandbox"');
  });

  test.each(["/errors/page_not_allowed", "/errors"])(
    "the remedy on %s leads to the page that it names",
    async (path) => {
      expect((await read(path, browser)).text).toContain('href="/docs/security.md"');
    },
  );

  test("renders markup in a document as text", async () => {
    const { text } = await read("/portal/docs.md", browser);
    expect(text).toContain("node wallet.mjs &lt;wallet&gt;");
    expect(text).not.toMatch(/<wallet>|<!-- /);
  });
});

test("the root of the API is the index to a program, and leads a browser to the documentation", async () => {
  const program = await fetch(`${kit.base}/`);
  expect(await program.json()).toEqual(await (await fetch(`${kit.base}/index.json`)).json());
  expect(program.headers.get("vary")).toBe("Accept");
  expect(program.headers.get("access-control-allow-origin")).toBeNull();
  const person = await fetch(`${kit.base}/`, { headers: { accept: browser }, redirect: "manual" });
  expect([person.status, person.headers.get("location")]).toEqual([302, `${docs}/`]);
});
