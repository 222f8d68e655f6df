import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../temporary-folder.ts";
import { tryCli } from "../run-cli.ts";

/** Runs a command several times with exec, and compares the runs. */
const repeat = async (runs: number, ...command: string[]) =>
  await tryCli(["exec", "--repeat", `${runs}`, "--expect-equal", "--", ...command]);

/** A program of Node that can create given states. */
const node = (program: string) => [
  process.execPath,
  "--input-type=module",
  "--eval",
  `const send = async (url, body) => {
     const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
     if (!answer.ok) throw new Error(await answer.text());
     return await answer.json();
   };
   const give = async (body) => await send(process.env.ROUTING_CONTROL_URL + "/given", body);
   ${program}`,
];

const purchase = (reference: string) =>
  `await give({ purchase: { state: "active", reference: ${reference} } });`;

test("a command whose runs are equal is run as often as --repeat says, and exec prints their fingerprint", async () => {
  const file = join(await temporaryFolder(), "runs");
  const program = `
    const { appendFile } = await import("node:fs/promises");
    await appendFile(${JSON.stringify(file)}, process.env.ROUTING_API_URL + "\\n");
    await give({ purchase: { state: "refunded" } });`;
  expect(await repeat(3, ...node(program))).toEqual({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^3 runs have the fingerprint 0x[0-9a-f]{64}\.\n$/),
  });
  const urls = (await readFile(file, "utf8")).trim().split("\n");
  expect(urls).toHaveLength(3);
  expect(new Set(urls).size).toBe(1);
});

const createPurchase = String.raw`request \d+, POST /v1/routing/programs/prg_demo/purchases \(createPurchase\)`;

test.each([
  [
    "Math.random",
    purchase("'order-' + Math.random()"),
    `${createPurchase}: body.reference is "order-0.\\d+"`,
  ],
  ["Date.now", purchase("'order-' + Date.now()"), `${createPurchase}: body.reference is "order-1\\d+"`],
  [
    "a transaction of a random value",
    `${purchase('"order"')}
     const [from, to] = ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"];
     const value = "0x" + Math.floor(Math.random() * 2 ** 40).toString(16);
     await send(process.env.ROUTING_RPC_URL, { jsonrpc: "2.0", id: 1, method: "eth_sendTransactionSync", params: [{ from, to, value }] });
     ${purchase("'order-' + Math.random()")}`,
    'transaction \\d+, a transfer of ether to \\w+ from \\w+: value is "\\d+" instead of "\\d+"',
  ],
  [
    "a request that only some runs send",
    `${purchase('"first"')} const { existsSync, writeFileSync } = await import("node:fs");
     const file = process.env.ROUTING_SANDBOX_FILE + ".ran";
     if (existsSync(file)) ${purchase('"second"')}
     else await give({ merchant: { state: "pending", wallet: "stranger" } });
     writeFileSync(file, "");`,
    null,
  ],
])(
  "with %s, exec exits with 1 and names the first request or transaction that differs",
  async (_, program, difference) => {
    const { code, stderr } = await repeat(3, ...node(program));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^Run \\d+ differs from run 1 first in ${difference ?? "request \\d+, .*, where run 1 has request"}`,
      ),
    );
  },
);

test.each([
  ["first", "which it does not have"],
  ["second", "which run 1 does not have"],
])("a request that only the %s run sends is named, and not the event behind it", async (run, how) => {
  const program = `
    const { existsSync, writeFileSync } = await import("node:fs");
    const file = process.env.ROUTING_SANDBOX_FILE + ".ran";
    await give({ merchant: { state: "pending" } });
    if (existsSync(file) === ${run === "second"}) await give({ merchant: { state: "pending", wallet: "stranger" } });
    writeFileSync(file, "");`;
  const { code, stderr } = await repeat(2, ...node(program));
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(
      String.raw`^Run 2 differs from run 1 first in request \d+, POST .* \(createMerchant\), ${how}\.\n$`,
    ),
  );
});

const secondRun = `
  const { existsSync, writeFileSync } = await import("node:fs");
  const file = process.env.ROUTING_SANDBOX_FILE + ".ran";
  const isSecond = existsSync(file);
  writeFileSync(file, "");`;

test.each([
  [
    "a transaction",
    `await send(process.env.ROUTING_RPC_URL, { jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params: [{ from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: "0x1" }] });`,
    String.raw`transaction \d+, .*\ba transfer of ether to \w+ from \w+[,.]`,
  ],
  ["a move of the clock", `await send(control + "/clock", { seconds: 60 });`, String.raw`block \d+, `],
  [
    "a block",
    `await send(control + "/blocks", { blocks: 1 });`,
    String.raw`block \d+, without transactions, `,
  ],
])(
  "%s that only one run has is named, and not a request, an event or a delivery that it moves",
  async (_, step, difference) => {
    const paid = 'await give({ purchase: { state: "paid" } });';
    for (const [condition, later] of [
      ["isSecond", ""],
      ["isSecond", paid],
      ["!isSecond", paid],
    ]) {
      const program = `${secondRun}
      const control = process.env.ROUTING_CONTROL_URL;
      await give({ merchant: { state: "enrolled" } });
      if (${condition}) { ${step} }
      ${later}
      await send(control + "/deliver", {});`;
      const { code, stderr } = await repeat(2, ...node(program));
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^Run 2 differs from run 1 first in ${difference}`));
    }
  },
);

test("a change that is no request, block, transaction or event is named by its field of the fingerprint", async () => {
  const program = `${secondRun} if (isSecond) await send(process.env.ROUTING_CONTROL_URL + "/keys/rotate", {});`;
  const { code, stderr } = await repeat(2, ...node(program));
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^Run 2 differs from run 1 only in its fingerprint: store is "0x\w+" instead of "0x\w+"\. /,
  );
});

test("requests that the sandbox no longer has are not called equal", async () => {
  const program = `${secondRun}
    const path = process.env.ROUTING_API_URL + "/v1/routing/capabilities";
    await give({ merchant: { state: "pending", name: isSecond ? "Second" : "First" } });
    for (let sent = 0; sent < 1_050; sent += 1) await (await fetch(path)).text();`;
  const { code, stderr } = await repeat(2, ...node(program));
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^Run 2 differs from run 1 in its fingerprint: .*\. The first \d+ requests were not compared, /,
  );
});

test("bodies that differ only in the order of their keys are named", async () => {
  const program = `${secondRun}
    const terms = isSecond ? { y: 2, x: 1 } : { x: 1, y: 2 };
    await give({ purchase: { state: "created", terms } });`;
  expect(await repeat(2, ...node(program))).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(
        `^Run 2 differs from run 1 first in ${createPurchase}: body.terms has its keys in the order y, x instead of x, y\\.\n$`,
      ),
    ),
  });
});

test.skipIf(spawnSync("python3", ["--version"]).status !== 0)(
  "with the order of a set, which Python changes in each run, exec names the first request whose order differs",
  async () => {
    const program = `
import json, os, urllib.request
for name in {"ada", "bob", "cy", "dee", "eve", "flo", "guy", "hal"}:
    body = json.dumps({"purchase": {"state": "created", "reference": name}}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(os.environ["ROUTING_CONTROL_URL"] + "/given", body, headers))
`;
    const { code, stderr } = await repeat(4, "env", "-u", "PYTHONHASHSEED", "python3", "-c", program);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^Run \\d differs from run 1 first in ${createPurchase}: body.reference is "\\w+" instead of "\\w+"\\.\\n$`,
      ),
    );
  },
);

test("runs that leave a delivery in progress are compared once it has ended", async () => {
  // Nothing listens at this port: the attempts fail in the same way in each run.
  const program = `
    const { readFileSync } = await import("node:fs");
    const { accounts, urls } = JSON.parse(readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
    await send(urls.control + "/receiver/pin", { url: "http://127.0.0.1:9/" });
    await give({ merchant: { state: "pending" } });
    const post = async (path, secret) => {
      const headers = { Authorization: "Bearer " + secret, "Content-Type": "application/json", "Idempotency-Key": "left" + path };
      return await (await fetch(urls.api + "/v1/routing" + path, { method: "POST", headers, body: "{}" })).json();
    };
    const { credential } = await post("/access", accounts[0].key);
    let hasEnded = false;
    post("/programs/prg_demo/notifications", credential).finally(() => (hasEnded = true));
    const isBegun = async () => (await (await fetch(urls.control + "/requests")).json()).in_progress.length > 0;
    while (!hasEnded && !(await isBegun()));
    process.exit(0);`;
  expect(await repeat(3, ...node(program))).toEqual({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^3 runs have the fingerprint 0x[0-9a-f]{64}\.\n$/),
  });
});

test.each([
  ["given", "/given", { purchase: { state: "refunded" } }],
  ["deliver", "/deliver", {}],
])("runs that leave POST /%s in progress are compared once it has ended", async (_, path, body) => {
  const program = `
    const control = process.env.ROUTING_CONTROL_URL;
    await give({ purchase: { state: "paid" } });
    // Each attempt fails, until there is none left.
    await send(control + "/faults", { layer: "delivery", action: "reset", count: null });
    const count = async () => (await (await fetch(control + "/requests")).json()).data.length;
    const before = await count();
    send(control + "${path}", ${JSON.stringify(body)});
    while ((await count()) === before);
    process.exit(0);`;
  expect(await repeat(3, ...node(program))).toEqual({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^3 runs have the fingerprint 0x[0-9a-f]{64}\.\n$/),
  });
});

test("a run that fails ends the repetition with its exit code", async () => {
  const file = join(await temporaryFolder(), "runs");
  expect(
    await repeat(5, "sh", "-c", `echo run >> ${file}; test $(wc -l < ${file}) -lt 2 || exit 3`),
  ).toMatchObject({
    code: 3,
    stderr: "Run 2 of 5 failed with exit code 3.\n",
  });
  expect(await readFile(file, "utf8")).toBe("run\nrun\n");
});
