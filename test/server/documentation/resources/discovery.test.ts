import { createHash, createPublicKey, verify } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { hashMessage, TypedDataEncoder } from "ethers";
import { calculateJwkThumbprint } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { hashJson } from "../../../../protocol/values/canonical-json.ts";
import { errorCodes } from "../../../../server/errors/catalogue.ts";
import { operations } from "../../../../server/operations.ts";
import { problem } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";

const addFormats = formatsPlugin.default;

let kit: TestKit;
let docs: string;

beforeAll(async () => {
  kit = await TestKit.shared();
  docs = kit.sandbox.description.urls.docs;
});

async function read(url: string, method = "GET") {
  const response = await fetch(url, { method });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

// As the specification lists them.
const specified = [
  ["/portal/docs.md", "text/markdown"],
  ["/portal/capabilities.json", "application/json"],
  ["/portal/examples/purchase.json", "application/json"],
  ["/portal/schemas/purchase.json", "application/json"],
  ["/portal/openapi.json", "application/json"],
  ["/portal/llms.txt", "text/plain"],
] as const;

describe("the documentation host", () => {
  test.each(specified)("serves %s as %s", async (path, type) => {
    const { status, headers, text } = await read(docs + path);
    expect(status).toBe(200);
    expect(String(headers["content-type"]).split(";")[0]).toBe(type);
    if (type === "application/json") expect(JSON.parse(text)).toBeTypeOf("object");
    expect(text).not.toMatch(/\{\{|undefined/);
  });

  test.each(specified)("answers HEAD for %s without a body", async (path) => {
    const { status, headers, text } = await read(docs + path, "HEAD");
    expect(status).toBe(200);
    expect(Number(headers["content-length"])).toBeGreaterThan(0);
    expect(text).toBe("");
  });

  test.each(specified)("refuses every method but GET and HEAD at %s", async (path) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const answer = await read(docs + path, method);
      expect(answer.status, method).toBe(405);
      expect(answer.headers["allow"]).toBe("GET, HEAD");
      expect(problem(answer).code).toBe("method_not_allowed");
    }
  });

  test.each([
    "/portal/docs.md/",
    "/portal/%zz",
    "/docs/nothing.md",
    "/docs/../package.json",
    "/errors/nothing",
  ])("has nothing at %s", async (path) => {
    const answer = await read(docs + path);
    expect(answer.status).toBe(404);
    expect(problem(answer).code).toBe("route_not_found");
  });

  test("describes exactly its resources, as version 0.2.0", async () => {
    const described = JSON.parse((await read(`${docs}/portal/openapi.json`)).text);
    expect(described.info.version).toBe("0.2.0");
    expect(Object.keys(described.paths)).toEqual(specified.map(([path]) => path));
    for (const [path, type] of specified)
      expect(Object.keys(described.paths[path].get.responses["200"].content)).toEqual([type]);
  });

  test("gives an example that its schema accepts, unsigned and fictional, and whose terms hash is right", async () => {
    const example = JSON.parse((await read(`${docs}/portal/examples/purchase.json`)).text);
    const schema = JSON.parse((await read(`${docs}/portal/schemas/purchase.json`)).text);
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    const validate = addFormats(new Ajv2020({ strict: false })).compile(schema);
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    expect(example).toMatchObject({ fictional: true, signature: null });
    expect(example.typed_data.message.termsHash).toBe(hashJson(example.terms));
    expect(validate({ ...example, signature: "0x00" })).toBe(false);
  });

  test("gives test vectors that another implementation computes, too", async () => {
    const { text } = await read(`${docs}/portal/docs.md`);
    const example = JSON.parse((await read(`${docs}/portal/examples/purchase.json`)).text);
    const { domain, types, message } = example.typed_data;
    // ethers derives the domain's type and refuses types that contain it.
    const { EIP712Domain: _, ...messageTypes } = types;
    const block = (heading: string) =>
      new RegExp(`### ${heading}: a test vector\\n[^#]*?\\n\`\`\`(?:json)?\\n([^\`]*?)\\n\`\`\``).exec(
        text,
      )?.[1] ?? "";

    expect(example.commitment_hash).toBe(TypedDataEncoder.hash(domain, messageTypes, message));
    expect(text).toContain(`\n${example.commitment_hash}\n`);
    expect(text).toContain(`(\`termsHash\`) \`0x${sha256(block("Commitment"))}\``);

    expect(text).toContain(`EIP-191 digest is \`${hashMessage(block("Enrollment"))}\``);

    const claim = /`Claim\((.*?)\)`/.exec(text)?.[1] ?? "";
    const fields = claim
      .split(",")
      .map((field) => ({ type: field.split(" ")[0] ?? "", name: field.split(" ")[1] ?? "" }));
    const claimHash = TypedDataEncoder.hash(domain, { Claim: fields }, JSON.parse(block("Claim")).message);
    expect(text).toContain(`(the claim hash) \`${claimHash}\``);

    const signed = block("Decision");
    expect(signed).toContain(`"claim_hash":"${claimHash}"`);
    expect(text).toContain(`is \`0x${sha256(signed)}\`. With the private key`);
    const x = /whose public key is `([^`]+)`/.exec(text)?.[1] ?? "";
    const approval = /the approval is\n\n```\n(\S+)\n/.exec(text)?.[1] ?? "";
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, Buffer.from(signed), key, Buffer.from(approval, "base64url"))).toBe(true);
  });

  test("has an llms.txt by the convention: a title, a summary, and sections that list links", async () => {
    const { text } = await read(`${docs}/portal/llms.txt`);
    const [title, summary, details, ...sections] = text.trim().split("\n\n");
    expect(title).toMatch(/^# \S.*$/);
    expect(summary).toMatch(/^> \S.*$/);
    expect(details).toMatch(/^[^#>-]/);
    const headings = sections.filter((_, at) => at % 2 === 0);
    expect(headings).toEqual(["## Guide", "## Machine-readable", "## Optional"]);
    for (const list of sections.filter((_, at) => at % 2 === 1))
      for (const line of list.split("\n")) expect(line).toMatch(/^- \[[^\]]+\]\(http[^)]+\): \S/);
  });

  test("has a page for every error code, and a list of all", async () => {
    const { text } = await read(`${docs}/errors`);
    for (const code of errorCodes) {
      expect(text).toContain(`${docs}/errors/${code}`);
      expect((await read(`${docs}/errors/${code}`)).text).toContain(`\`${code}\``);
    }
  });

  test("shows a code's page to a browser as HTML and to a program as Markdown", async () => {
    const page = `${docs}/errors/scope_missing`;
    const browser = await fetch(page, {
      headers: { Accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" },
    });
    expect(browser.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await browser.text()).toContain(">The credential lacks a scope</h1>");
    const program = await fetch(page);
    expect(program.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(program.headers.get("vary")).toBe("Accept");
  });

  test("has no link to a missing resource", async () => {
    const pages = [`${docs}/portal/docs.md`, `${docs}/portal/llms.txt`, `${docs}/errors`];
    const texts = await Promise.all(pages.map(async (page) => (await read(page)).text));
    const links = new Set(
      texts.flatMap((text) => [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, url]) => String(url))),
    );
    expect(links.size).toBeGreaterThan(40);
    for (const link of links) expect((await read(link)).status, link).toBe(200);
  });
});

describe("the API's own resources", () => {
  test("/index.json lists resources that are all there, and every operation", async () => {
    const index = JSON.parse((await read(`${kit.base}/index.json`)).text);
    for (const { url } of index.resources) expect((await read(url)).status, url).toBe(200);
    expect(index.operations.map(({ url }: { url: string }) => url)).toEqual(
      operations.map(({ path }) => `${kit.base}${path}`),
    );
  });

  test("/.well-known/jwks.json holds the notification, receipt and reviewer keys by their thumbprints", async () => {
    const { keys } = JSON.parse((await read(`${kit.base}/.well-known/jwks.json`)).text);
    for (const key of keys) {
      expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" });
      expect(key.kid).toBe(await calculateJwkThumbprint(key));
      expect(key).not.toHaveProperty("d");
    }
    const ids = keys.map(({ kid }: { kid: string }) => kid);
    const { data } = await kit.api.GET("/v1/routing/capabilities");
    expect(ids).toContain(data?.keys.notifications.key_id);
    expect(ids).toContain(data?.keys.receipts.key_id);
    for (const { key_id } of kit.sandbox.description.reviewers) expect(ids).toContain(key_id);
  });

  test("need no credential and no query", async () => {
    expect((await read(`${kit.base}/v1/routing/capabilities`)).status).toBe(200);
  });
});
