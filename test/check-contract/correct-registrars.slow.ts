import { beforeAll, expect, test } from "vitest";
import { checkContract } from "../../check-contract/check-contract.ts";
import { type ReferenceEffects, readReference } from "../../check-contract/reference.ts";
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
