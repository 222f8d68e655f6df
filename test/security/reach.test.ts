import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { ask } from "../ask.ts";
import { cli } from "../cli/program.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const parts = ["api", "docs", "control", "rpc"] as const;
type Part = (typeof parts)[number];

/** An address of loopback that 0.0.0.0 includes and the default does not. */
const elsewhere = "127.0.0.2";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({
    seed: "reach",
    listen: "0.0.0.0",
    allowHosts: ["Sandbox", "proxy.example:9000"],
  });
});

afterAll(async () => await sandbox.close());

/** Sends a request to a part at the other address. */
async function reach(
  part: Part,
  headers: { [name: string]: string },
  options: { method?: string; path?: string } = {},
) {
  const { port } = new URL(sandbox.description.urls[part]);
  const { method = "GET", path = part === "api" ? "/v1/routing/capabilities" : "/" } = options;
  return await ask(`http://${elsewhere}:${port}${path}`, { method, headers });
}

test.each(parts)(
  "%s accepts its allowed names at every address, and refuses any other Host",
  async (part) => {
    const { port } = new URL(sandbox.description.urls[part]);
    const accepted = ["sandbox", `sandbox:${port}`, "SANDBOX:1", "proxy.example:9000", `127.0.0.1:${port}`];
    for (const Host of accepted) expect((await reach(part, { Host })).status, Host).not.toBe(403);
    const refused = [
      "proxy.example",
      "proxy.example:9001",
      "evil.example",
      "sandbox.evil.example",
      "evil-sandbox",
      `${elsewhere}:${port}`,
      `0.0.0.0:${port}`,
      "sandbox@evil.example",
    ];
    for (const Host of refused) {
      const answer = await reach(part, { Host });
      expect(answer.status, Host).toBe(403);
      expect(answer.text).toContain(
        "or allow the name with the option allowHosts (routing-sandbox start --allow-host <name>)",
      );
    }
  },
);

// The documentation is public and read-only.
test.each(["api", "control", "rpc"] as const)(
  "%s refuses pages of other origins under an allowed name",
  async (part) => {
    const foreign = ["http://evil.example", "http://sandbox.evil.example", "http://sandbox:1", "null"];
    for (const Origin of foreign) {
      const answer = await reach(part, { Host: "sandbox", Origin }, { method: "POST" });
      expect(answer.status, Origin).toBe(403);
    }
  },
);

/** The port that a part really has; a published one can differ. */
const portOf = (part: Part) => new URL(sandbox.description.urls[part]).port;

test.each([
  // As a published port, as a proxy that speaks TLS, and as the default port of each.
  ["http://sandbox:4022", "sandbox:4022"],
  ["https://sandbox:4022", "sandbox:4022"],
  ["https://sandbox", "sandbox"],
  ["http://sandbox", "sandbox:80"],
  ["http://sandbox", "SANDBOX"],
  ["https://proxy.example:9000", "proxy.example:9000"],
])("a page of %s may send requests to its own origin, under the Host %s", async (Origin, Host) => {
  for (const part of ["api", "docs", "control"] as const)
    for (const method of ["GET", "POST"])
      expect((await reach(part, { Host, Origin }, { method })).status, `${part} ${method}`).not.toBe(403);
});

test("the pages of the sandbox's own ports under an allowed name may call the API and the chain RPC, and those of other ports may not", async () => {
  const own = parts.map((part) => `http://sandbox:${portOf(part)}`);
  const exact = ["http://proxy.example:9000", "https://proxy.example:9000"];
  for (const Origin of [...own, ...exact])
    for (const part of ["api", "rpc"] as const)
      expect((await reach(part, { Host: "sandbox", Origin }, { method: "POST" })).status, Origin).not.toBe(
        403,
      );
  const foreign = [
    "http://sandbox:1",
    "https://sandbox",
    `http://proxy.example:${portOf("api")}`,
    `ftp://sandbox:${portOf("api")}`,
  ];
  for (const Origin of foreign)
    for (const part of ["api", "rpc"] as const)
      expect((await reach(part, { Host: "sandbox:9", Origin }, { method: "POST" })).status, Origin).toBe(403);
  const control = await reach(
    "control",
    { Host: "sandbox", Origin: `http://sandbox:${portOf("api")}` },
    { method: "POST" },
  );
  expect(control.status).toBe(403);
});

test.each(["sandbox", "localhost", "127.0.0.1"])(
  "pages that are reached at %s call the other ports at the same name",
  async (name) => {
    const at = (part: Part) => `http://${name}:${portOf(part)}`;
    const page = async (part: Part, path: string) =>
      await reach(part, { Host: new URL(at(part)).host, Accept: "text/html" }, { path });
    const wallet = await page("api", "/wallet/prg_demo/merchant/mer_aaaaaaaaaaaaaaaaaaaa");
    expect(wallet.text).toContain(`content="${at("rpc")}"`);
    expect(wallet.headers["content-security-policy"]).toContain(`connect-src 'self' ${at("rpc")};`);
    const reference = await page("api", "/reference/");
    expect(reference.text).toContain(`content="${at("docs")}"`);
    expect(reference.headers["content-security-policy"]).toContain(`connect-src 'self' ${at("docs")};`);
    expect((await page("control", "/")).text).toContain(at("docs"));
    expect((await page("docs", "/portal/openapi.json")).headers["access-control-allow-origin"]).toBe(
      at("api"),
    );
    expect((await page("docs", "/reference/")).headers["location"]).toBe(`${at("api")}/reference/`);
    expect((await page("api", "/")).headers["location"]).toBe(`${at("docs")}/`);
    for (const path of ["/", "/portal/docs.md", "/errors", "/errors/rpc_unavailable", "/nothing"]) {
      const { text } = await page("docs", path);
      const own = parts.flatMap(
        (part) => text.match(new RegExp(`http://[^/"<:]*:${portOf(part)}`, "g")) ?? [],
      );
      expect(own.length, path).toBeGreaterThan(0);
      expect(
        own.filter((url) => !url.startsWith(`http://${name}:`)),
        path,
      ).toEqual([]);
    }
  },
);

test("the chain RPC refuses the same calls, and Anvil itself stays on loopback", async () => {
  const { port } = new URL(sandbox.description.urls.rpc);
  const call = async (method: string) =>
    await fetch(`http://${elsewhere}:${port}`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
      headers: { "Content-Type": "application/json" },
    });
  // fetch names the address in Host, which is not allowed.
  expect((await call("eth_chainId")).status).toBe(403);
  const asSandbox = await ask(`http://${elsewhere}:${port}/`, {
    method: "POST",
    headers: { Host: "sandbox", "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_reset", params: [] }),
  });
  expect(JSON.parse(asSandbox.text)).toMatchObject({
    error: { message: expect.stringContaining("anvil_reset") },
  });
  const { hostname, port: anvilPort } = new URL(sandbox.chain.anvil.url);
  expect(hostname).toMatch(/^127\./);
  await expect(fetch(`http://${elsewhere}:${anvilPort}`)).rejects.toThrow();
});

test("by default, only loopback answers, and no other name is accepted", async () => {
  const own = await freshSandbox();
  for (const part of parts) {
    const { port } = new URL(own.description.urls[part]);
    await expect(fetch(`http://${elsewhere}:${port}/`)).rejects.toThrow();
    expect((await ask(own.description.urls[part], { headers: { Host: "sandbox" } })).status).toBe(403);
  }
});

test("a sandbox that listens at one address has its URLs at that address", async () => {
  await using own = await createSandbox({ seed: "address", listen: elsewhere });
  expect(new URL(own.description.urls.api).hostname).toBe(elsewhere);
  const { purchase } = await own.given.purchase({ state: "paid" });
  expect(purchase.figures.paid).toBe(purchase.amount);
});

test.each([
  [{ listen: "localhost" }, 'The option listen must be an IP address, such as "0.0.0.0"'],
  [{ listen: "192.0.2.1" }, "The option listen is 192.0.2.1, which is no address of this machine."],
  [{ allowHosts: ["http://sandbox"] }, "Pass a host name without a scheme"],
  [{ allowHosts: ["two words"] }, "Pass a host name without a scheme"],
])("the options %j are refused with what to do", async (options, message) => {
  await expect(createSandbox(options)).rejects.toThrow(message);
});

test("exec with --listen says what it exposes", { tags: "thorough" }, async () => {
  const print = ["--", process.execPath, "-p", "process.env.ROUTING_API_URL"];
  const { stderr, stdout } = await promisify(execFile)(
    process.execPath,
    [cli, "exec", "--listen", "0.0.0.0", "--allow-host", "sandbox", ...print],
    { cwd: await temporaryFolder() },
  );
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
  expect(stderr).toContain(
    "Warning: the API, the documentation, the chain RPC and the control API listen at 0.0.0.0. Everyone who reaches it gets the test keys, can mine blocks and can change or delete everything in the sandbox; use it only in a network that you trust.",
  );
});
