import { SignTypedDataVersion, signTypedData, TypedDataUtils } from "@metamask/eth-sig-util";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { present, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

const fields = z.array(z.object({ name: z.string(), type: z.string() }));
const typedDataSchema = z.object({
  domain: z.object({
    name: z.string(),
    version: z.string(),
    chainId: z.int(),
    verifyingContract: z.string(),
  }),
  types: z.object({ EIP712Domain: fields }).catchall(fields),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});

let kit: TestKit;
let merchant: Schema<"Merchant">;

beforeAll(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
});

/** The digest that MetaMask signs for this typed data: it takes `types` as they are and adds nothing. */
function metaMaskDigest(typedData: unknown): string {
  const digest = TypedDataUtils.eip712Hash(typedDataSchema.parse(typedData), SignTypedDataVersion.V4);
  return `0x${digest.toString("hex")}`;
}

async function readText(path: string): Promise<string> {
  return await (await fetch(`${kit.sandbox.description.urls.docs}${path}`)).text();
}

test("MetaMask's eth_signTypedData_v4 has the digest of a merchant's funding authorization", () => {
  const { typed_data, hash } = merchant.funding_authorization;
  expect(metaMaskDigest(typed_data)).toBe(hash);
});

test("MetaMask's eth_signTypedData_v4 has the digest of a purchase's commitment", async () => {
  const { typed_data, hash } = (await kit.createPurchase(merchant)).commitment;
  expect(metaMaskDigest(typed_data)).toBe(hash);
});

test("the API accepts a claim that MetaMask's eth_signTypedData_v4 signs as the wallet route shows it", async () => {
  const purchase = await kit.paidPurchase(merchant);
  const reason = "Arrived broken.";
  const amount = "10000000";
  const { transaction, sign } = await kit.action("purchase", purchase.id, "claim", { amount, reason });
  if (transaction === undefined || sign?.method !== "eth_signTypedData_v4")
    throw new Error("No claim is offered.");
  expect(metaMaskDigest(sign.typed_data)).toBe(sign.digest);
  const { transaction_hash: transactionHash } = await kit.wallet("beneficiary").send(transaction);
  const key = kit.sandbox.description.wallets["beneficiary"]?.private_key ?? "";
  const signature = signTypedData({
    privateKey: Buffer.from(key.slice(2), "hex"),
    data: typedDataSchema.parse(sign.typed_data),
    version: SignTypedDataVersion.V4,
  });
  const claim = present(
    await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
      params: kit.write(purchase.id),
      body: {
        transaction_hash: transactionHash,
        requested_amount: amount,
        reason,
        signature: hexOf(signature),
      },
    }),
  );
  expect(claim).toMatchObject({ claim_hash: sign.digest, signature });
});

test("MetaMask's eth_signTypedData_v4 has the digests of the guide's test vectors", async () => {
  const example = JSON.parse(await readText("/portal/examples/purchase.json"));
  expect(metaMaskDigest(example.typed_data)).toBe(example.commitment_hash);
  const guide = await readText("/portal/docs.md");
  const [, typedData = "", digest] =
    /### Claim: a test vector\n[^#]*?\n```json\n([^`]*)\n```\n\n[^`]*`(0x[0-9a-f]{64})`/.exec(guide) ?? [];
  expect(metaMaskDigest(JSON.parse(typedData))).toBe(digest);
});

function hexOf(text: string): `0x${string}` {
  return z.templateLiteral(["0x", z.string()]).parse(text);
}
