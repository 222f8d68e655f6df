import { beforeAll, expect, test } from "vitest";
import { checkContract } from "../../check-contract/check-contract.ts";
import { type ReferenceEffects, readReference } from "../../check-contract/reference.ts";
import { knowErrors } from "../../relayer/node/decode-revert.ts";
import { readArtifact } from "../../sandbox/chain/registrar/artifact.ts";
import { correctArtifact, correctRegistrars } from "./correct-registrars.ts";

let reference: ReferenceEffects;

beforeAll(async () => {
  reference = await readReference();
}, 60_000);

test.each(correctRegistrars)(
  "%s is correct, and no check says otherwise",
  async (name) => {
    const { findings } = await checkContract(await readArtifact(await correctArtifact(name)), { reference });
    expect(findings).toEqual([]);
  },
  180_000,
);

test("errors of a guard of its own are accepted in a process that has run a sandbox on the contract, which knows them by name", async () => {
  const artifact = await readArtifact(await correctArtifact("OtherOrderLedger"));
  knowErrors(artifact.abi ?? []);
  const { findings } = await checkContract(artifact, { reference, only: "calls: reentrancy" });
  expect(findings).toEqual([]);
}, 180_000);
