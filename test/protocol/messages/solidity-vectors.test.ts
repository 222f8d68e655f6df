import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { expect, test } from "vitest";
import { hashClaim } from "../../../protocol/messages/claim.ts";
import { hashCommitment } from "../../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../../protocol/messages/domain.ts";
import { hashFundingAuthorization } from "../../../protocol/messages/funding-authorization.ts";
import { packageRoot } from "../../../sandbox/lib/package-root.ts";

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const account = (value: number): Address => `0x${value.toString(16).padStart(40, "0")}`;

test("the digests of the Solidity conformance test are those of the TypeScript core, byte for byte", async () => {
  const domain = registrarDomain(31_337, account(0xabc));
  const purchase = {
    program: word(1),
    purchaseRef: word(2),
    merchant: account(3),
    buyer: account(4),
    beneficiary: account(5),
    token: account(6),
    amount: 7n,
    termsHash: word(8),
    offerDeadline: 9n,
    payDeadline: 10n,
    claimDeadline: 11n,
    salt: word(12),
  };
  const funding = {
    program: word(1),
    merchantRef: word(2),
    wallet: account(3),
    token: account(4),
    cap: 5n,
    validUntil: 6n,
    salt: word(7),
  };
  const claim = {
    commitment: word(1),
    beneficiary: account(2),
    requestedAmount: 3n,
    reasonHash: word(4),
  };
  const file = join(packageRoot(), "contracts", "conformance", "RegistrarConformance.t.sol");
  const constants = (await readFile(file, "utf8")).matchAll(/(\w+)_VECTOR =\s*(0x[0-9a-f]{64});/g);
  expect(Object.fromEntries([...constants].map(([, name, digest]) => [name, digest]))).toEqual({
    PURCHASE: hashCommitment(domain, purchase),
    FUNDING: hashFundingAuthorization(domain, funding),
    CLAIM: hashClaim(domain, claim),
  });
});
