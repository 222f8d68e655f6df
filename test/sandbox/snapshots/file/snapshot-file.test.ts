import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashJson } from "../../../../protocol/values/canonical-json.ts";
import { readMining, setMining } from "../../../../sandbox/chain/clock/mining.ts";
import { readableStates } from "../../../../sandbox/chain/start-chain.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../../../sandbox/options/description.ts";
import type { SandboxOptions } from "../../../../sandbox/options/options.ts";
import { actorsOf } from "../../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../../testkit/demo/printer.ts";
import { Session } from "../../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../../testkit/demo/show-purchase.ts";
import { continueSandbox } from "../../../continue-sandbox.ts";
import { programFile } from "../../../program-file.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { sealed } from "./sealed.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({
    seed: "saved",
    programs: ["prg_books", "prg_demo"],
    gasBudgetWei: 7n * 10n ** 17n,
  });
});

afterAll(async () => {
  await sandbox.close();
});

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

test.each([
  ["never", { automine: false, interval: null }],
  [3_600, { automine: false, interval: 3_600 }],
] as const)(
  "a loaded sandbox has the numbers of requests, the credential of the client, the deliveries and the mode of mining of its file (%s)",
  async (pace, mining) => {
    const start = await sandbox.snapshot();
    const ask = async ({ client }: Sandbox) => {
      const params = { path: { program: "prg_books" } };
      const { response } = await client.GET("/v1/routing/programs/{program}", { params });
      return { status: response.status, id: response.headers.get("X-Request-Id") };
    };
    expect(await ask(sandbox)).toMatchObject({ status: 200, id: expect.stringMatching(/^req_/) });
    const headers = { "Content-Type": "application/json" };
    await fetch(sandbox.description.receiver.url, { method: "POST", headers, body: "{}" });
    expect(sandbox.receiver.deliveries()).toHaveLength(1);
    await setMining(sandbox.chain.client, pace);
    const file = join(await temporaryFolder(), "saved.snapshot");
    await sandbox.save(file);
    const saved = await sandbox.fingerprint();
    await using loaded = await createSandbox({ from: file });
    expect(await readMining(loaded.chain.client)).toEqual(mining);
    expect(loaded.receiver.deliveries()).toEqual(sandbox.receiver.deliveries());
    expect(await ask(loaded)).toEqual(await ask(sandbox));
    // Without the credential the client would have had another one issued.
    expect(await loaded.fingerprint()).toEqual(saved);
    await start.restore();
  },
);

test("a loaded sandbox describes and publishes the keys of its file, those of rotations included", async () => {
  const start = await sandbox.snapshot();
  const keysOf = ({ reviewer, reviewers, receiver }: SandboxDescription) => ({
    reviewer,
    reviewers,
    secret: receiver.hmac_secret,
  });
  const first = keysOf(sandbox.description);
  await sandbox.rotateKeys();
  const rotated = keysOf(sandbox.description);
  expect(rotated.secret).not.toBe(first.secret);
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const dataDirectory = await temporaryFolder();
  await using loaded = await createSandbox({ from: file, dataDirectory });
  expect(keysOf(loaded.description)).toEqual(rotated);
  const published = JSON.parse(await readFile(join(dataDirectory, "sandbox.json"), "utf8"));
  expect(keysOf(published)).toEqual(rotated);
  await start.restore();
});

test("a snapshot file can be loaded into a data directory, which keeps it", {
  tags: "thorough",
}, async () => {
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const dataDirectory = await temporaryFolder();
  const loaded = await createSandbox({ from: file, dataDirectory });
  await loaded.close();
  await using resumed = await createSandbox({ dataDirectory });
  expect(await resumed.fingerprint()).toEqual(await sandbox.fingerprint());
  await expect(createSandbox({ from: file, dataDirectory })).rejects.toThrow(
    `${dataDirectory} already contains a sandbox`,
  );
  await expect(createSandbox({ from: file, seed: "other" })).rejects.toMatchObject({
    code: "snapshot_refused",
    message: `${file} was saved with seed "saved", not with seed "other". Leave out the option seed.`,
  });
});

test("a file that is damaged, foreign, or of another version is refused, and the data directory stays as it is", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "saved.snapshot");
  await sandbox.save(file);
  const whole = await readFile(file);
  const end = whole.indexOf("\n");
  const header = JSON.parse(whole.subarray(0, end).toString());
  const withHeader = (change: object) =>
    Buffer.concat([Buffer.from(JSON.stringify({ ...header, ...change })), whole.subarray(end)]);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(whole.readUInt8(whole.length - 100) ^ 1, whole.length - 100);
  const refusals: [Buffer, string][] = [
    [flipped, "is damaged: it does not match its checksum"],
    [whole.subarray(0, whole.length - 1), "is damaged: it does not match its checksum"],
    [whole.subarray(0, end - 10), "is not a snapshot file, or its first line is damaged. Name a file that"],
    [Buffer.from("{}\n"), "is not a snapshot file, or its first line is damaged. Name a file that"],
    // Its checksum is right: spaces of a line are no part of it.
    [Buffer.concat([Buffer.alloc(64 * 2 ** 10, " "), whole]), "is not a snapshot file, or its first line"],
    [withHeader({ seed: "another" }), "is damaged: it does not match its checksum"],
    [
      withHeader({ version: 2 }),
      "was saved in format 2, and this version reads the formats 4 and 5. Make the state again with this version, or load and save the file with each minor version in between.",
    ],
    [
      Buffer.from('{"format":"routing-sandbox-snapshot","version":6,"sha256":"","anvil":"9","more":[]}\n'),
      "was saved by another version in format 6, and this version reads the formats 4 and 5. Update routing-sandbox, or make the state again with this version.",
    ],
    [
      sealed(whole, { version: 6, routing_sandbox: "0.9.0" }),
      "was saved by routing-sandbox 0.9.0 in format 6, and this version reads the formats 4 and 5. Update",
    ],
  ];
  const dataDirectory = join(folder, "data");
  for (const [content, reason] of refusals) {
    await writeFile(file, content);
    await expect(createSandbox({ from: file, dataDirectory })).rejects.toThrow(reason);
  }
  await expect(createSandbox({ from: join(folder, "none"), dataDirectory })).rejects.toThrow(
    `${join(folder, "none")} cannot be read: there is no such file (ENOENT, ${join(folder, "none")}). Name a snapshot file.`,
  );
  await expect(stat(dataDirectory)).rejects.toThrow("ENOENT");
});

test("a file that was saved between a change of an account and the next block is loaded, also one of an earlier version, whose root is that of the block", async () => {
  const start = await sandbox.snapshot();
  const { client } = sandbox.chain;
  await client.setBalance({ address: sandbox.wallets.stranger.address, value: 5n });
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const saved = await sandbox.fingerprint();
  await start.restore();
  const { digest, ...counted } = saved;
  const { stateRoot } = await client.getBlock({ blockTag: "latest" });
  const earlier = hashJson({ ...counted, block: { ...saved.block, state_root: stateRoot } });
  const whole = await readFile(file);
  const text = brotliDecompressSync(whole.subarray(whole.indexOf("\n") + 1)).toString();
  const changed = text
    .replace(`"state_root":"${saved.block.state_root}"`, `"state_root":"${stateRoot}"`)
    .replace(`"digest":"${digest}"`, `"digest":"${earlier}"`);
  for (const content of [text, changed]) {
    await writeFile(file, sealed(whole, {}, brotliCompressSync(content, fast)));
    await using loaded = await createSandbox({ from: file });
    expect(await loaded.fingerprint()).toEqual(saved);
  }
});

test("a file whose state is not what its fingerprint says, or that Anvil cannot load, is refused, though its checksum is right", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "saved.snapshot");
  await sandbox.save(file);
  const { digest } = await sandbox.fingerprint();
  const whole = await readFile(file);
  const text = brotliDecompressSync(whole.subarray(whole.indexOf("\n") + 1)).toString();
  const [first = ""] = text.split("\n");
  const changed = text.replace(`"digest":"${digest}"`, `"digest":"0x${"ab".repeat(32)}"`);
  const differs = `${file} cannot be loaded: the loaded state differs from the saved state: the chain is the same, but records, clock or another part of the sandbox are not.`;
  const remedy =
    "Load it with the version of routing-sandbox that saved it, which has Anvil 0.0.1, or make the state again with this version.";
  const refusals = [
    { text: changed, change: {}, message: `${differs} Save it again.` },
    { text: changed, change: { anvil: "0.0.1" }, message: `${differs} ${remedy}` },
    {
      text: `${first}\n{}`,
      change: { anvil: "0.0.1" },
      message: expect.stringMatching(
        `^${file} cannot be loaded: Anvil cannot load its chain: .*\\. ${remedy}$`,
      ),
    },
  ];
  const dataDirectory = join(folder, "data");
  for (const { text, change, message } of refusals) {
    await writeFile(file, sealed(whole, change, brotliCompressSync(text, fast)));
    await expect(createSandbox({ from: file, dataDirectory })).rejects.toMatchObject({
      code: "snapshot_refused",
      message,
    });
    await expect(stat(dataDirectory)).rejects.toThrow("ENOENT");
  }
});

test("a file with values that no sandbox writes is refused, though its checksum is right", {
  tags: "thorough",
}, async () => {
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const whole = await readFile(file);
  const [first = "", state] = brotliDecompressSync(whole.subarray(whole.indexOf("\n") + 1))
    .toString()
    .split("\n");
  const content = JSON.parse(first);
  const { settings } = content;
  const [program] = settings.programs;
  const changes: object[] = [
    { settings: { ...settings, confirmations: 1e9 } },
    { settings: { ...settings, confirmations: 0 } },
    { settings: { ...settings, seed: "x".repeat(201) } },
    { settings: { ...settings, gas_budget_wei: "1".repeat(79) } },
    { settings: { ...settings, programs: Array.from({ length: 101 }, () => program) } },
    { settings: { ...settings, gas_budget_wei: String(2n ** 256n) } },
    { base_fee: "1".repeat(1_000_000) },
    // More than Anvil takes.
    { base_fee: String(2n ** 64n) },
    { offset: 1e15 },
    { fingerprint: [] },
    { fingerprint: { ...content.fingerprint, block: null } },
  ];
  const lines = [
    ...changes.map((change) => `${JSON.stringify({ ...content, ...change })}\n${state}`),
    // No line feed, and more than the first line may have.
    " ".repeat(66 * 2 ** 20),
    first,
  ];
  for (const text of lines) {
    await writeFile(file, sealed(whole, {}, brotliCompressSync(text, fast)));
    await expect(createSandbox({ from: file })).rejects.toMatchObject({
      code: "snapshot_refused",
      message: `${file} has content that this version does not write. Save it again.`,
    });
  }
});

test("a file with a chain or a part that cannot be loaded is refused by its name, though its checksum is right", async () => {
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const whole = await readFile(file);
  const [first = "", state = ""] = brotliDecompressSync(whole.subarray(whole.indexOf("\n") + 1))
    .toString()
    .split("\n");
  const content = JSON.parse(first);
  const { parts } = content;
  const { store } = parts;
  const broken = { ...store.collections, merchants: { mer_1: { revision: 1, value: null } } };
  const saveAgain = "Save it again.";
  const byParts = "Load it with the parts that it was saved with, or save it again.";
  const cases: [change: object, state: string, reason: string][] = [
    [{}, "", `Anvil cannot load its chain: EOF while parsing a value at line 1 column 0. ${saveAgain}`],
    [{}, "{}", `Anvil cannot load its chain: missing field \`block\` at line 1 column 2. ${saveAgain}`],
    [
      {},
      JSON.stringify({ ...JSON.parse(state), blocks: [] }),
      `Anvil cannot load its chain: Best hash not found for best number`,
    ],
    [
      {},
      state.replaceAll(
        "5fbdb2315678afecb367f032d93f642f64180aa3",
        "5fbdb2315678afecb367f032d93f642f64180aa4",
      ),
      "its chain is not the one that was saved: code of token at 0x",
    ],
    [
      { parts: { ...parts, requests: null } },
      state,
      `its part "requests" has another shape (Invalid input: expected number, received null). ${byParts}`,
    ],
    [{ parts: {} }, state, "it does not hold store, "],
    [{ parts: { ...parts, receiver: [] } }, state, "Cannot read properties of undefined"],
    [
      { parts: { ...parts, store: { ...store, collections: broken } } },
      state,
      "Cannot convert undefined or null to object",
    ],
  ];
  for (const [change, changed, reason] of cases) {
    const text = `${JSON.stringify({ ...content, ...change })}\n${changed}`;
    await writeFile(file, sealed(whole, {}, brotliCompressSync(text, fast)));
    await expect(createSandbox({ from: file }), reason).rejects.toMatchObject({
      code: "snapshot_refused",
      message: expect.stringContaining(`${file} cannot be loaded: ${reason}`),
    });
  }
});

test("a file that is no compressed text is refused, though its checksum is right", async () => {
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  await writeFile(file, sealed(await readFile(file), {}, Buffer.from("not compressed")));
  await expect(createSandbox({ from: file })).rejects.toThrow(`${file} cannot be decompressed, or has more`);
});

test("a file that would never end is refused", { tags: "thorough" }, async () => {
  await expect(createSandbox({ from: "/dev/zero" })).rejects.toThrow(
    "/dev/zero cannot be read: it has more than 128 MiB. Name a snapshot file.",
  );
});

test("a load that is killed, or whose port is in use, leaves a directory that can be loaded into", {
  tags: "thorough",
}, async () => {
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const [, port = ""] = /:(\d+)$/.exec(sandbox.description.urls.control) ?? [];
  const dataDirectory = await temporaryFolder();
  const refused = createSandbox({ from: file, dataDirectory, ports: { control: Number(port) } });
  await expect(refused).rejects.toMatchObject({ code: "port_in_use" });
  // As a start leaves it that is killed in the middle.
  await writeFile(join(dataDirectory, "unfinished"), "");
  await writeFile(join(dataDirectory, "settings.json"), '{"version":1,"seed":"half","mode":"live"}');
  await mkdir(join(dataDirectory, "store"), { recursive: true });
  await writeFile(join(dataDirectory, "store", "store.json"), "half a store");
  await mkdir(join(dataDirectory, "store.next"));
  await writeFile(join(dataDirectory, "store.next", "store.json"), "half a store");
  await mkdir(join(dataDirectory, "loading"));
  await writeFile(join(dataDirectory, "loading", "state.json"), "half a state");
  await using loaded = await createSandbox({ from: file, dataDirectory });
  expect(await loaded.fingerprint()).toEqual(await sandbox.fingerprint());
  expect((await readdir(dataDirectory)).sort()).toEqual([".env", "lock.json", "sandbox.json", "store"]);
});

test.runIf(existsSync("/dev/full"))(
  "a snapshot file that the disk has no room for is refused, leaves no other file, and what was there stays",
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "saved.snapshot");
    await writeFile(file, "what was there");
    // Every write to it fails with ENOSPC.
    await symlink("/dev/full", `${file}.next`);
    await expect(sandbox.save(file)).rejects.toMatchObject({
      code: "snapshot_refused",
      message: `${file} cannot be written: the disk is full (ENOSPC). Free disk space or correct the permissions of its directory, or name another file.`,
    });
    expect(await readdir(folder)).toEqual(["saved.snapshot"]);
    expect(await readFile(file, "utf8")).toBe("what was there");
  },
);

test("a snapshot file in a directory that does not exist is refused with what to do", async () => {
  const file = join(await temporaryFolder(), "missing", "saved.snapshot");
  await expect(sandbox.save(file)).rejects.toMatchObject({
    code: "snapshot_refused",
    message: `${file} cannot be written: its directory does not exist. Make the directory, or name another file.`,
  });
});

test("two sandboxes that did the same on the same ports save equal bytes", { tags: "thorough" }, async () => {
  const folder = await temporaryFolder();
  const run = async (file: string, ports: SandboxOptions["ports"]) => {
    await using equal = await createSandbox({ seed: "equal", ...(ports === undefined ? {} : { ports }) });
    await equal.given.purchase({ state: "refunded", claimed: "1" });
    await equal.save(join(folder, file));
    const { api, docs, rpc, control } = equal.description.urls;
    const portOf = (url: string) => Number(new URL(url).port);
    return { api: portOf(api), docs: portOf(docs), rpc: portOf(rpc), control: portOf(control) };
  };
  await run("second", await run("first", undefined));
  const [first, second] = await Promise.all(["first", "second"].map((file) => readFile(join(folder, file))));
  expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
});

const loader = programFile("load-and-continue");

/** Saves the sandbox at a moment that has something of everything. */
async function save(): Promise<string> {
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "lose_response", count: null });
  await demoSteps.activate(session, purchase, "activate");
  await sandbox.clock.travel({ hours: 1 });
  await sandbox.rotateKeys("notifications");
  await sandbox.faults.set({ layer: "delivery", action: "answer", status: 503 });
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  return file;
}

test("another process with another home and folder continues from a snapshot file as the sandbox itself does", {
  tags: "thorough",
}, async () => {
  const start = await sandbox.snapshot();
  const file = await save();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const saved = await sandbox.fingerprint();
  const home = await temporaryFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [loader, file], {
    cwd: home,
    env: { ...process.env, HOME: home },
  });
  const elsewhere = JSON.parse(stdout);
  expect(elsewhere).toMatchObject({ seed: "saved", faults: sandbox.faults.list(), loaded: saved });
  expect(elsewhere.budget).toEqual(await sandbox.relayer.budget("prg_books"));
  await continueSandbox(sandbox);
  expect(elsewhere.end).toEqual(await sandbox.fingerprint());
  await start.restore();
});

test("a loaded sandbox reads the states of the latest blocks of its file, and loses the oldest one with each new block", {
  tags: "thorough",
}, async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "saved.snapshot");
  await using saved = await createSandbox({ seed: "many-blocks" });
  await saved.chain.client.mine({ blocks: 2 * readableStates });
  await saved.save(file);
  await using loaded = await createSandbox({ from: file, dataDirectory: join(folder, "loaded") });
  expect(await unreadableOf(loaded)).toEqual([]);
  await loaded.chain.client.mine({ blocks: readableStates / 2 });
  expect(await unreadableOf(loaded)).toEqual([]);
});

/** Returns which of the latest blocks have no state that can be read. */
async function unreadableOf({ chain, wallets }: Sandbox): Promise<bigint[]> {
  const newest = await chain.client.getBlockNumber();
  const blocks = Array.from({ length: readableStates }, (_, index) => newest - BigInt(index));
  const { address } = wallets.buyer;
  const reads = blocks.map((blockNumber) => chain.client.getBalance({ address, blockNumber }));
  const results = await Promise.allSettled(reads);
  return blocks.filter((_, index) => results[index]?.status === "rejected");
}
