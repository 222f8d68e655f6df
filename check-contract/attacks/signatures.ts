import { secp256k1 } from "@noble/curves/secp256k1.js";
import { base64urlnopad } from "@scure/base";
import { encodeAbiParameters, encodeFunctionData, type Hex } from "viem";
import { claimTypedData } from "../../protocol/messages/claim.ts";
import { signDecision } from "../../protocol/signatures/decision.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { contractSignerAbi } from "../adversary-abi.ts";
import { attacksOf, mismatch, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import type { FixtureAnswer } from "../fixture/fixture-service.ts";

/** Files a valid claim with a signature in another form. */
async function reshape(fixture: ContractFixture, shape: (signature: Hex) => Hex): Promise<FixtureAnswer> {
  const { hash, signature } = await fixture.paidAndClaimed();
  return await fixture.fileClaim(hash, shape(signature));
}

const order = secp256k1.Point.Fn.ORDER;
const word = (value: bigint) => value.toString(16).padStart(64, "0");
const parts = (signature: Hex) => ({
  r: signature.slice(2, 66),
  s: BigInt(`0x${signature.slice(66, 130)}`),
  v: signature.slice(130),
});

/** The order of Ed25519's group. */
const ed25519Order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The twin of an Ed25519 signature whose S is the group order larger. */
function malleable(approval: string): string {
  const bytes = base64urlnopad.decode(approval);
  let s = bytes.slice(32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) + ed25519Order;
  for (let index = 32; index < 64; index += 1, s >>= 8n) bytes[index] = Number(s & 255n);
  return base64urlnopad.encode(bytes);
}

/** Attacks by signatures that are not what they look like. */
export const signatureAttacks = attacksOf("signatures", [
  {
    name: "an enrollment from another account",
    pays: false,
    stopped: mismatch("status", "wallet", "purchase", "log"),
    async run(fixture) {
      const merchant = await fixture.createMerchant("other_merchant", usdc);
      const { message, transaction } = merchant.enrollment;
      const hash = await fixture.send("stranger", { to: transaction.to, data: transaction.data });
      const signature = await fixture.account("other_merchant").signMessage({ message });
      return await fixture.enroll(merchant, hash, signature);
    },
  },
  {
    name: "a signature of another merchant's enrollment message",
    pays: false,
    stopped: refused(422, "signer_mismatch"),
    async run(fixture) {
      const merchant = await fixture.createMerchant("other_merchant", usdc);
      const { to, data } = merchant.enrollment.transaction;
      const hash = await fixture.succeed("other_merchant", { to, data });
      const { message } = fixture.merchant.enrollment;
      return await fixture.enroll(
        merchant,
        hash,
        await fixture.account("other_merchant").signMessage({ message }),
      );
    },
  },
  {
    name: "a claim signature with a high s",
    stopped: refused(422, "signature_invalid"),
    run: async (fixture) =>
      await reshape(fixture, (signature) => {
        const { r, s, v } = parts(signature);
        return `0x${r}${word(order - s)}${v === "1b" ? "1c" : "1b"}`;
      }),
  },
  {
    name: "a compact claim signature (EIP-2098)",
    stopped: refused(422, "signature_invalid"),
    run: async (fixture) =>
      await reshape(fixture, (signature) => {
        const { r, s, v } = parts(signature);
        return `0x${r}${word(s | (v === "1c" ? 1n << 255n : 0n))}`;
      }),
  },
  {
    name: "a claim signed by another account",
    stopped: refused(422, "signer_mismatch"),
    async run(fixture) {
      const { hash, claim } = await fixture.paidAndClaimed();
      return await fixture.fileClaim(hash, await fixture.signClaim(claim, "stranger"));
    },
  },
  {
    name: "a claim signed for another contract",
    stopped: refused(422, "signer_mismatch"),
    async run(fixture) {
      const { hash, claim } = await fixture.paidAndClaimed();
      const elsewhere = { ...fixture.domain, verifyingContract: fixture.contracts.token };
      const signature = await fixture.account("beneficiary").signTypedData(claimTypedData(elsewhere, claim));
      return await fixture.fileClaim(hash, signature);
    },
  },
  {
    name: "a commitment signature as a claim signature",
    stopped: refused(422, "signer_mismatch"),
    run: async (fixture) => await reshape(fixture, () => fixture.purchase.commitment.signature),
  },
  {
    name: "a claim transaction with another claim's hash",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      await fixture.paid();
      const other = fixture.claim(fixture.purchase, 9n * usdc);
      const hash = await fixture.succeed("beneficiary", other.call);
      return await fixture.fileClaim(hash, await fixture.signClaim(fixture.claim(fixture.purchase).claim));
    },
  },
  {
    name: "a claim by a stranger for a contract wallet that accepts every signature (ERC-1271)",
    stopped: mismatch("status", "wallet", "log"),
    async run(fixture) {
      const owner = encodeAbiParameters([{ type: "address" }], [fixture.address("stranger")]);
      const wallet = await fixture.deploy("ContractSigner", "ContractSigner", owner);
      const data = encodeFunctionData({ abi: contractSignerAbi, functionName: "setBehavior", args: [1] });
      await fixture.succeed("stranger", { to: wallet, data });
      const purchase = await fixture.createPurchase({ beneficiary: wallet.toLowerCase() });
      await fixture.activate(purchase);
      fixture.expectAccepted(
        await fixture.reconcile(purchase, [await fixture.succeed("buyer", fixture.pay(purchase))]),
      );
      const { call } = fixture.claim(purchase);
      const transaction_hash = await fixture.send("stranger", call);
      return await fixture.post(`/purchases/${purchase.id}/claims`, {
        transaction_hash,
        requested_amount: "10000000",
        reason: fixture.reason,
        signature: "0x00",
      });
    },
  },
  {
    name: "a malleated Ed25519 signature of a decision",
    stopped: refused(422, "signature_invalid"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      return await fixture.decide(statement, malleable(signDecision(fixture.reviewerKey, statement)));
    },
  },
  {
    name: "a decision signed with a small-order Ed25519 key, which verifies for every message",
    stopped: refused(422, "signature_invalid"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      const neutral = new Uint8Array(64);
      neutral[0] = 1;
      return await fixture.decide(statement, base64urlnopad.encode(neutral));
    },
  },
  {
    name: "a decision signature for another award",
    stopped: refused(422, "signature_invalid"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      const smaller = signDecision(fixture.reviewerKey, { ...statement, award: "1000000" });
      return await fixture.decide(statement, smaller);
    },
  },
  {
    name: "a decision signature for another claim",
    stopped: refused(422, "signature_invalid"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      const other = signDecision(fixture.reviewerKey, {
        ...statement,
        claim_hash: fixture.second.commitment.hash,
      });
      return await fixture.decide(statement, other);
    },
  },
  {
    name: "a decision signed with a reviewer key that is not designated",
    stopped: refused(403, "reviewer_not_designated"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      const other = fixture.sandbox.description.reviewers.find(({ program }) => program === "prg_other");
      if (other === undefined) throw new Error("There is a second program.");
      const theirs = { ...statement, reviewer_key_id: other.key_id };
      return await fixture.decide(theirs, signDecision(deriveKey("attacks", "reviewer/prg_other"), theirs));
    },
  },
  {
    name: "a decision signed with a rotated reviewer key",
    stopped: refused(403, "reviewer_not_designated"),
    async run(fixture) {
      const statement = await fixture.statement(await fixture.claimed());
      const approval = signDecision(fixture.reviewerKey, statement);
      await fixture.sandbox.rotateKeys("reviewer");
      return await fixture.decide(statement, approval);
    },
  },
  {
    name: "a decision signed with a rotated reviewer key under the new key's id",
    stopped: refused(422, "signature_invalid"),
    async run(fixture) {
      const claim = await fixture.claimed();
      const before = fixture.reviewerKey;
      await fixture.sandbox.rotateKeys("reviewer");
      const statement = await fixture.statement(claim);
      return await fixture.decide(statement, signDecision(before, statement));
    },
  },
  {
    name: "a decision recorded before its key was rotated: the refund is collected",
    stopped: { status: 201, code: null, failed: [] },
    async run(fixture) {
      const { id } = await fixture.decided();
      await fixture.sandbox.rotateKeys("reviewer");
      return await fixture.refund(id);
    },
  },
]);
