import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let page: string;
let assets: string;

beforeAll(async () => {
  sandbox = await freshSandbox();
  const { api } = sandbox.description.urls;
  page = `${api}/wallet/prg_demo/merchant/mer_aaaaaaaaaaaaaaaaaaaa`;
  assets = `${api}/assets`;
});

const asBrowser = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("a page is sent with a policy that allows its own files and the chain RPC, and nothing inline", async () => {
  const { status, headers } = await fetch(page, { headers: asBrowser });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("vary")).toBe("Origin, Accept");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${sandbox.description.urls.rpc}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test.each(["application/json", "*/*", "application/json, text/html;q=0.9"])(
  "a client that accepts %s gets JSON where a browser gets the page",
  async (accept) => {
    const { headers } = await fetch(page, { headers: { Accept: accept } });
    expect(headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
    expect(headers.get("vary")).toBe("Origin, Accept");
  },
);

test("a browser that opens /v1/routing gets the reference, and one that opens the chain RPC its page of the documentation", async () => {
  const { api, rpc, docs } = sandbox.description.urls;
  const answerOf = async (url: string, headers: { [name: string]: string }) => {
    const { status, headers: sent } = await fetch(url, { headers, redirect: "manual" });
    return [status, sent.get("location")];
  };
  expect(await answerOf(`${api}/v1/routing`, asBrowser)).toEqual([302, "/reference/"]);
  expect(await answerOf(`${api}/v1/routing`, {})).toEqual([404, null]);
  expect(await answerOf(rpc, asBrowser)).toEqual([302, `${docs}/docs/rpc.md`]);
  expect(await answerOf(rpc, {})).toEqual([405, null]);
});

test("an error's page is sent with the strictest policy, and keeps it", async () => {
  const answer = await fetch(`${sandbox.description.urls.docs}/errors/scope_missing`, { headers: asBrowser });
  expect(answer.headers.get("content-security-policy")).toContain("connect-src 'self';");
  const text = await answer.text();
  expect(text).not.toMatch(/ style=|<style|<script(?! type="module" src="\/assets\/)/);
  const [, stylesheet = ""] = /<link rel="stylesheet" href="([^"]+)">/.exec(text) ?? [];
  expect((await fetch(new URL(stylesheet, answer.url))).status).toBe(200);
});

describe("an asset", () => {
  test.each([
    ["/style/base.css", "text/css; charset=utf-8"],
    ["/style/icon.svg", "image/svg+xml; charset=utf-8"],
    ["/wallet/main.js", "text/javascript; charset=utf-8"],
    ["/vendor/lit-html/lit-html.js", "text/javascript; charset=utf-8"],
  ])("at %s is %s, and 304 to a client that has it", async (path, type) => {
    const first = await fetch(assets + path);
    expect([first.status, first.headers.get("content-type")]).toEqual([200, type]);
    expect((await first.text()).length).toBeGreaterThan(100);
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(assets + path, { headers: { "If-None-Match": `"other", ${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const other = await fetch(assets + path, { headers: { "If-None-Match": '"other"' } });
    expect(other.status).toBe(200);
  });

  test("is JavaScript without types where the source is TypeScript", async () => {
    const source = await readFile(
      new URL("../../../portal/amounts/format-amount.ts", import.meta.url),
      "utf8",
    );
    const text = await (await fetch(`${assets}/amounts/format-amount.ts`)).text();
    expect(source).toContain("export interface Token");
    const module = await import(`data:text/javascript,${encodeURIComponent(text)}`);
    expect(module.formatAmount("1025000000", { symbol: "USDC", decimals: 6 })).toBe("1,025.00\u00a0USDC");
  });

  test.each([
    "/docs.md",
    "/wallet/page.html",
    "/wallet/../docs.md",
    "/wallet/%2e%2e/docs.md",
    "/..%2fpackage.json",
    "/vendor/lit-html/package.json",
    "/explorer/main.js",
    "/wallet/",
    "/",
  ])("is not at %s", async (path) => {
    expect((await fetch(assets + path)).status).toBe(404);
  });

  test("is read-only", async () => {
    const { status, headers } = await fetch(`${assets}/style/base.css`, { method: "POST" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
