import { encodeAbiParameters, parseAbiParameters } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFailure } from "../../../check-contract/attack.ts";
import { attacks, attacksWithPermit } from "../../../check-contract/attacks/all.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterAll(async () => await fixture.close());

/** Has every party run the code of a wallet that checks the signature of the party's own key (EIP-7702). */
async function delegateParties(): Promise<void> {
  const { chain_id: chainId } = fixture.sandbox.description.chain;
  const authorizations = [];
  for (const name of ["merchant", "buyer", "beneficiary"] as const) {
    const account = fixture.account(name);
    const owner = encodeAbiParameters(parseAbiParameters("address"), [account.address]);
    const address = await fixture.deploy("ContractSigner", "ContractSigner", owner);
    const nonce = await fixture.client.getTransactionCount({ address: account.address });
    const signed = await account.signAuthorization?.({ address, chainId, nonce });
    if (signed === undefined) throw new Error("A local account signs authorizations.");
    authorizations.push(signed);
  }
  await fixture.succeed("stranger", {
    to: fixture.address("stranger"),
    data: "0x",
    delegate: authorizations,
  });
}

test.each([...attacks, ...attacksWithPermit].map((attack) => [attack.name, attack] as const))(
  "while merchant, buyer and beneficiary delegate to code, the response is the same to %s",
  async (_name, attack) => {
    const run = async (one: ContractFixture) => {
      await delegateParties();
      return await attack.run(one);
    };
    expect(await findFailure({ ...attack, run }, fixture)).toBeNull();
  },
);
