import type { EIP1193RequestFn } from "viem";
import { expect, test } from "vitest";
import { checkContract } from "../../check-contract/check-contract.ts";
import { ContractFixture } from "../../check-contract/fixture/contract-fixture.ts";
import { throwIfSilent } from "../../check-contract/fixture/node-fault.ts";
import type { ReferenceEffects } from "../../check-contract/reference.ts";
import { AnvilError } from "../../sandbox/chain/anvil/anvil-error.ts";
import { readContractArtifact } from "../../sandbox/chain/contracts.ts";
import { GenesisError } from "../../sandbox/chain/genesis/genesis-error.ts";
import { stopProcess } from "../kit/stop-process.ts";
import { findAnvils } from "../sandbox/chain/anvil/find-anvil.ts";

const reference: ReferenceEffects = { gas: {}, calls: new Map() };

/** Checks the sandbox's own registrar contract, and disturbs its Anvil after the deployment. */
async function checkWith(disturb: (anvil: number) => unknown) {
  const artifact = {
    ...(await readContractArtifact("PurchaseRegistrar")),
    contractName: "PurchaseRegistrar",
  };
  const disturbed: unknown[] = [];
  const progress = () => {
    if (disturbed.length === 0)
      disturbed.push(findAnvils(process.pid).then((found) => found.map(({ anvil }) => disturb(anvil))));
  };
  return await checkContract(artifact, { reference, attacks: [], only: "lifecycle", progress });
}

test("an Anvil that ends during a check is no failure of the contract", async () => {
  await expect(checkWith((anvil) => process.kill(anvil, "SIGKILL"))).rejects.toMatchObject({
    code: "anvil_failed",
    exitCode: 2,
    message: expect.stringMatching(/ The contract was not judged: run check-contract again\.$/),
  });
}, 60_000);

test("an Anvil that gives no response during a check is no failure of the contract", async () => {
  await expect(checkWith(stopProcess)).rejects.toMatchObject({
    code: "anvil_failed",
    exitCode: 2,
    message: "Anvil gave no response within 10 s. The contract was not judged: run check-contract again.",
  });
}, 60_000);

test.each([
  ["gives no response", stopProcess],
  ["ends", (anvil: number) => process.kill(anvil, "SIGKILL")],
])(
  "an Anvil that %s while a sandbox is prepared is no failure of the contract",
  async (_what, disturb) => {
    let disturbed: Promise<unknown> | undefined;
    const opening = ContractFixture.open(async ({ client, ...chain }) => {
      const { request } = client;
      const disturbing = async (call: { method: string }): Promise<unknown> => {
        // The service reads the first transaction that a wallet has sent.
        if (call.method === "eth_getTransactionByHash") {
          disturbed ??= findAnvils(process.pid).then((found) => found.map(({ anvil }) => disturb(anvil)));
          await disturbed;
        }
        return await Reflect.apply(request, undefined, [call]);
      };
      return { ...chain, client: { ...client, request: disturbing as EIP1193RequestFn as typeof request } };
    });
    await expect(opening).rejects.toMatchObject({
      code: "anvil_failed",
      exitCode: 2,
      message: expect.stringMatching(/ The contract was not judged: run check-contract again\.$/),
    });
  },
  60_000,
);

const tooManyFiles = Object.assign(new Error("listen EMFILE: too many open files 127.0.0.1"), {
  code: "EMFILE",
  syscall: "listen",
});

test.each([
  [
    "an Anvil that ends before it listens",
    new AnvilError("start_failed", "Anvil did not start. Anvil said: Permission denied"),
    "Anvil did not start. Anvil said: Permission denied.",
  ],
  [
    "an Anvil that is not installed",
    new AnvilError("binary_missing", "anvil is not installed. Install it."),
    "anvil is not installed. Install it.",
  ],
  [
    "a listener without a file descriptor",
    tooManyFiles,
    "The machine refused a step: this process has too many open files (EMFILE).",
  ],
  [
    "a contract of the package that cannot be read",
    new GenesisError("not_compiled", "The artifact is missing; install again.", { cause: tooManyFiles }),
    "The artifact is missing; install again.",
  ],
])("%s is no failure of the contract", (_what, error, reason) => {
  expect(() => throwIfSilent(error)).toThrow(
    `${reason} The contract was not judged: run check-contract again.`,
  );
});
