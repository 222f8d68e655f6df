import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatHex, encodeFunctionData, isHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { contractArtifactFile, readContractArtifact } from "../../../../sandbox/chain/contracts.ts";
import { loadRegistrarGenesis } from "../../../../sandbox/chain/genesis/build/registrar-genesis.ts";
import {
  compareAbi,
  type RegistrarOption,
  readRegistrar,
} from "../../../../sandbox/chain/registrar/registrar.ts";
import { unwrap } from "../../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { packageRoot } from "../../../../sandbox/lib/package-root.ts";
import { ledgerBehind } from "../../../kit/compile-registrar.ts";

const own = contractArtifactFile("PurchaseRegistrar");
const unusable = { name: "SandboxError", code: "registrar_unusable" };
const artifactSchema = z.looseObject({ abi: z.array(z.looseObject({ name: z.string().optional() })) });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-registrar-"));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Writes an artifact, and answers its path. */
async function artifact(name: string, content: object): Promise<string> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** The sandbox's own registrar contract as another build of another contract, which behaves in the same way. */
async function anotherBuild(name: string, change: object = {}): Promise<string> {
  const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
  return await artifact(name, { contractName: name, abi, bytecode: `${bytecode}00`, ...change });
}

async function start(registrar: RegistrarOption, options: object = {}) {
  return await createSandbox({ seed: "registrar", ...options, contracts: { registrar } });
}

describe("before anything starts, an artifact", () => {
  test("with a different interface is refused with each missing or different function, event and error", async () => {
    const parsed = artifactSchema.parse(JSON.parse(await readFile(own, "utf8")));
    const abi = parsed.abi
      .filter(({ name }) => !["expire", "PurchaseClaimed", "ZeroValue"].includes(name ?? ""))
      .map((entry) => {
        if (entry.name === "pay")
          return { ...entry, inputs: [{ type: "bytes32" }, { type: "uint128" }], stateMutability: "payable" };
        if (entry.name === "fundingSource") return { ...entry, outputs: [{ type: "uint256" }] };
        if (entry.name === "PausedSet")
          return { ...entry, inputs: [{ type: "bytes32" }, { type: "bool", indexed: true }] };
        if (entry.name === "SameParty") return { ...entry, inputs: [] };
        return entry;
      });
    const file = await artifact("Different", { ...parsed, contractName: "Different", abi });
    const dataDirectory = join(folder, "never-made");
    const error = await start({ artifact: file }, { dataDirectory }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(unusable);
    expect(String(error)).toBe(
      "SandboxError: Different does not have the interface IPurchaseRegistrar. Missing: error ZeroValue(); event PurchaseClaimed(bytes32 indexed,address indexed,uint32,bytes32); function expire(bytes32). Different: error SameParty(), which must be error SameParty(address); event PausedSet(bytes32,bool indexed), which must be event PausedSet(bytes32 indexed,bool); function fundingSource() view returns (uint256), which must be function fundingSource() view returns (address); function pay(bytes32,uint128) payable, which must be function pay(bytes32,uint256). Implement contracts/interfaces/IPurchaseRegistrar.sol of routing-sandbox, and compile again.",
    );
    expect(existsSync(dataDirectory)).toBe(false);
  });

  test("that is compared has exactly the functions, events and errors of the interface to have", async () => {
    const file = join(
      packageRoot(),
      "artifacts/contracts/interfaces/IPurchaseRegistrar.sol/IPurchaseRegistrar.json",
    );
    const { abi } = artifactSchema.parse(JSON.parse(await readFile(file, "utf8")));
    const { missing } = compareAbi([]);
    const names = missing.map((entry) => entry.replace(/^\w+ (\w+).*$/, "$1"));
    expect(new Set(names)).toEqual(new Set(abi.map(({ name }) => name)));
  });

  test.each([
    ["Hardhat", { bytecode: "0x60__$abc$__", linkReferences: { "contracts/Sums.sol": { Sums: [] } } }],
    [
      "Foundry",
      { bytecode: { object: "0x60__$abc$__", linkReferences: { "contracts/Sums.sol": { Sums: [] } } } },
    ],
  ])("of %s with an unlinked library is refused with the library's name", async (tool, content) => {
    const file = await artifact(tool, { contractName: "Linked", abi: [], ...content });
    await expect(start({ artifact: file })).rejects.toMatchObject({
      ...unusable,
      message: `${file} has unlinked libraries: Sums (contracts/Sums.sol). Make the libraries' functions internal, or link the libraries before you compile the artifact.`,
    });
  });

  test.each<[what: string, option: Partial<RegistrarOption>, message: string]>([
    [
      "arguments that its constructor does not take",
      { constructorArguments: [1n] },
      "The option contracts.registrar.constructorArguments is [1n]. Pass the arguments of the constructor of PurchaseRegistrar: ().",
    ],
    [
      "arguments of initialize that it does not have",
      { proxy: "uups", initializeArguments: [1n] },
      "PurchaseRegistrar has no function initialize. Leave out the option contracts.registrar.initializeArguments.",
    ],
    [
      "arguments of initialize and no proxy",
      { initializeArguments: [] },
      "The option contracts.registrar.initializeArguments is only for a proxy, and the option contracts.registrar.proxy is missing. Pass a proxy, or pass the arguments to the constructor with the option contracts.registrar.constructorArguments.",
    ],
  ])("with %s is refused", async (_what, option, message) => {
    await expect(start({ artifact: own, ...option })).rejects.toMatchObject({ message });
  });

  test("takes numbers, lists and structs as text, as on the command line", async () => {
    const inputs = [
      { name: "limit", type: "uint256" },
      { name: "open", type: "bool" },
      { name: "limits", type: "int64[]" },
      {
        name: "pair",
        type: "tuple",
        components: [
          { name: "a", type: "address" },
          { name: "b", type: "uint8" },
        ],
      },
    ];
    const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
    const taking = [...abi.filter(({ type }) => type !== "constructor"), { type: "constructor", inputs }];
    const file = await artifact("Taking", { contractName: "Taking", abi: taking, bytecode });
    const account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    const texts = ["12", "true", "[1,-2]", JSON.stringify({ a: account, b: 3 })];
    const values = [12n, true, [1n, -2n], { a: account, b: 3 }];
    const { creation } = await readRegistrar({ artifact: file, constructorArguments: texts });
    const same = await readRegistrar({ artifact: file, constructorArguments: values });
    expect(creation).toBe(same.creation);
    await expect(
      readRegistrar({ artifact: file, constructorArguments: ["many", ...texts.slice(1)] }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The option contracts\.registrar\.constructorArguments is \["many",.*: Cannot convert many to a BigInt\. Pass the arguments of the constructor of Taking: \(uint256 limit, bool open, int64\[\] limits, tuple pair\)\.$/,
      ),
    });
  });
});

test("a contract that cannot be deployed is refused with the reason", async () => {
  const reverting = await anotherBuild("Reverting", { bytecode: "0x60006000fd" });
  await expect(start({ artifact: reverting })).rejects.toMatchObject({
    ...unusable,
    message: "The creation of Reverting reverted: execution reverted. Correct Reverting, and compile again.",
  });
});

test("a contract whose funding source is bound to the implementation of its proxy is refused", async () => {
  await expect(start({ artifact: own, proxy: "uups" })).rejects.toMatchObject({
    ...unusable,
    message: expect.stringMatching(
      /^The funding source of PurchaseRegistrar lets 0x\w{40} draw, not 0x\w{40}, the address that is called\. Deploy it in initialize, which the proxy calls\.$/,
    ),
  });
});

test("an error that only this contract has is named, with its arguments", async () => {
  await using sandbox = await start(await ledgerBehind("uups"));
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { hash } = purchase.commitment;
  if (!isHex(hash)) throw new Error(`${hash} is no commitment hash.`);
  const args = [hash, 25_000_000n] as const;
  const pay = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "pay", args });
  const call = {
    from: sandbox.wallets.buyer.address,
    to: sandbox.description.contracts.registrar,
    data: concatHex([pay, "0x00"]),
  };
  expect((await sandbox.explain({ call })).revert).toMatchObject({
    name: "LooseCalldata",
    args: { length: "69" },
    meaning: "The contract reverts with LooseCalldata(length 69).",
  });
});

test("the prepared chain of an artifact is built once", async () => {
  const registrar = await readRegistrar({ artifact: await anotherBuild("Cached") });
  const { key, stateFile } = await loadRegistrarGenesis(registrar);
  const { mtimeMs } = await stat(stateFile);
  expect(await loadRegistrarGenesis(registrar)).toMatchObject({ key, stateFile });
  expect((await stat(stateFile)).mtimeMs).toBe(mtimeMs);
});

test("an artifact of Foundry runs the sandbox, a resume without the option continues it, and another artifact is refused", {
  tags: "thorough",
}, async () => {
  const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
  const file = await artifact("Forged", { abi, bytecode: { object: bytecode, linkReferences: {} } });
  const another = await anotherBuild("Another");
  const dataDirectory = join(folder, "resumed");
  const saved = join(folder, "refunded.snapshot");
  const first = await start({ artifact: file }, { dataDirectory });
  const { purchase } = await first.given.purchase({ state: "refunded" });
  const fingerprint = await first.fingerprint();
  await first.save(saved);
  await first.close();

  await expect(start({ artifact: another }, { dataDirectory })).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: expect.stringMatching(
      /was made with the registrar contract Forged \(build \w{12}\), not with the registrar contract Another \(build \w{12}\)\. Leave out the option contracts\.registrar to continue with it, delete it with the option fresh, or choose another directory with the option dataDirectory\.$/,
    ),
  });
  await expect(start({ artifact: another }, { from: saved })).rejects.toMatchObject({
    code: "snapshot_refused",
    message: expect.stringMatching(
      /refunded\.snapshot was saved with the registrar contract Forged \(build \w{12}\), not with the registrar contract Another \(build \w{12}\)\. Leave out the option contracts\.registrar\.$/,
    ),
  });
  await using resumed = await createSandbox({ dataDirectory });
  expect(await resumed.fingerprint()).toEqual(fingerprint);
  await using loaded = await start({ artifact: file }, { from: saved });
  expect(await loaded.fingerprint()).toEqual(fingerprint);
  const read = await loaded.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: "prg_demo", id: purchase.id } },
  });
  expect(unwrap(read)).toMatchObject({ status: "refunded" });
});

test("a data directory with the sandbox's own contract is not continued with another one", async () => {
  const dataDirectory = join(folder, "own");
  await (await createSandbox({ dataDirectory })).close();
  await expect(start({ artifact: own }, { dataDirectory, seed: "sandbox" })).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: expect.stringContaining(
      "was made with the sandbox's own registrar contract, not with the registrar contract PurchaseRegistrar (build ",
    ),
  });
});
