import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, parseAbiParameters } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import type { FixturePurchase } from "../../../check-contract/fixture/fixture-service.ts";

/** The values of `Behavior` in contracts/adversaries/ContractSigner.sol. */
const behaviors = {
  "checks its owner's signature": 0,
  "accepts every signature": 1,
  "refuses every signature": 2,
  "returns too few bytes": 3,
  reverts: 4,
};
type Behavior = keyof typeof behaviors;
const magic = "1626ba7e";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

/** A paid purchase whose beneficiary is a contract that the account of the beneficiary owns. */
async function contractBeneficiary(behavior: Behavior): Promise<{ purchase: FixturePurchase; paid: Hex }> {
  const owner = encodeAbiParameters(parseAbiParameters("address"), [fixture.address("beneficiary")]);
  const contract = await fixture.deploy("ContractSigner", "ContractSigner", owner);
  const data = encodeFunctionData({
    abi: parseAbi(["function setBehavior(uint8)"]),
    args: [behaviors[behavior]],
  });
  await fixture.succeed("stranger", { to: contract, data });
  const purchase = await fixture.createPurchase({ beneficiary: contract.toLowerCase() });
  await fixture.activate(purchase);
  return { purchase, paid: await fixture.paid(purchase) };
}

/** Files a claim with this signature. Its transaction is the payment, so a valid signature is followed by a `binding_mismatch`. */
async function claim(purchase: FixturePurchase, paid: Hex, signature: Hex) {
  const { code, failed, wrote, body } = await fixture.fileClaim(paid, signature, purchase);
  expect(wrote).toBe(false);
  return { code, failed, body };
}

const taken = { code: "binding_mismatch" };
const refusedBy = ({ beneficiary }: FixturePurchase) =>
  `The contract at ${beneficiary} refused the signature (isValidSignature, ERC-1271). Send one over the same bytes that this contract accepts.`;
const refusedAt = (purchase: FixturePurchase) => ({
  errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${purchase.beneficiary}` }],
});

describe("the claim signature of a beneficiary with code (ERC-1271)", () => {
  test("that checks its owner's signature is accepted if the owner signed, and refused if another account signed", async () => {
    const { purchase, paid } = await contractBeneficiary("checks its owner's signature");
    const { claim: signed } = fixture.claim(purchase);
    expect(await claim(purchase, paid, await fixture.signClaim(signed))).toMatchObject(taken);
    const { code, body } = await claim(purchase, paid, await fixture.signClaim(signed, "stranger"));
    expect(code).toBe("signer_mismatch");
    expect(body).toMatchObject({
      ...refusedAt(purchase),
      detail: refusedBy(purchase),
      expected_signer: purchase.beneficiary,
      actual_signer: fixture.address("stranger"),
    });
  });

  test("that accepts every signature accepts any bytes", async () => {
    const { purchase, paid } = await contractBeneficiary("accepts every signature");
    expect(await claim(purchase, paid, "0x01")).toMatchObject(taken);
  });

  test.each(["refuses every signature", "returns too few bytes", "reverts"] as const)(
    "that %s makes the claim fail, even if its owner signed",
    async (behavior) => {
      const { purchase, paid } = await contractBeneficiary(behavior);
      const { claim: signed } = fixture.claim(purchase);
      const { code, body } = await claim(purchase, paid, await fixture.signClaim(signed));
      expect(code).toBe("signer_mismatch");
      expect(body).toMatchObject({ ...refusedAt(purchase), detail: refusedBy(purchase) });
      const junk = await claim(purchase, paid, "0x01");
      expect(junk).toMatchObject({
        code: "signature_invalid",
        body: {
          ...refusedAt(purchase),
          detail: refusedBy(purchase),
        },
      });
    },
  );

  test("of an account that has since become a contract is checked by this contract, even if the account signed", async () => {
    const { purchase } = fixture;
    const paid = await fixture.paid(purchase);
    const signature = await fixture.signClaim(fixture.claim(purchase).claim);
    const { client } = fixture;
    // Reverts whatever it is asked.
    await client.setCode({ address: purchase.beneficiary, bytecode: "0x5f5ffd" });
    const refused = await claim(purchase, paid, signature);
    expect(refused).toMatchObject({
      code: "signature_invalid",
      body: { ...refusedAt(purchase), detail: refusedBy(purchase) },
    });
    expect(refused.body).not.toHaveProperty("actual_signer");
    const parity: Hex = `0x${signature.slice(2, -2)}01`;
    expect(await claim(purchase, paid, parity)).toMatchObject({ body: { detail: refusedBy(purchase) } });
  });

  test.each([
    ["the magic value", `${magic}${"00".repeat(28)}`, "binding_mismatch"],
    ["the magic value and more words", `${magic}${"00".repeat(60)}`, "binding_mismatch"],
    ["the magic value with dirt behind it", `${magic}${"00".repeat(27)}01`, "signature_invalid"],
    ["the magic value at the other end of the word", `${"00".repeat(28)}${magic}`, "signature_invalid"],
    ["another value", `1626ba7f${"00".repeat(28)}`, "signature_invalid"],
    ["true", `${"00".repeat(31)}01`, "signature_invalid"],
    ["zero", "00".repeat(32), "signature_invalid"],
    ["nothing", "", "signature_invalid"],
  ])("that answers %s is judged by the whole first word", async (_, answer, code) => {
    const { purchase, paid } = await contractBeneficiary("checks its owner's signature");
    const size = (answer.length / 2).toString(16).padStart(2, "0");
    // Copies what follows the code to memory and returns it.
    const copying = `60${size}600a5f3960${size}5ff3`;
    await fixture.client.setCode({ address: purchase.beneficiary, bytecode: `0x${copying}${answer}` });
    expect((await claim(purchase, paid, "0x01")).code).toBe(code);
  });
});
