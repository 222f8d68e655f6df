import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { getAddress, type Hex, hashMessage, hashTypedData, toFunctionSignature } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import * as calls from "../../protocol/call.ts";
import { type Claim, claimTypedData, hashClaim, hashReason } from "../../protocol/messages/claim.ts";
import { type Commitment, commitmentTypedData, hashCommitment } from "../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../protocol/messages/domain.ts";
import { enrollmentMessage } from "../../protocol/messages/enrollment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
  hashFundingAuthorization,
} from "../../protocol/messages/funding-authorization.ts";
import { type Permit, permitTypedData, signedPermit, tokenDomain } from "../../protocol/messages/permit.ts";
import {
  type Decision,
  decisionBytes,
  hashDecision,
  signDecision,
} from "../../protocol/signatures/decision.ts";
import { signDeliveryReceipt } from "../../protocol/signatures/delivery-receipt.ts";
import { ed25519Key } from "../../protocol/signatures/ed25519.ts";
import { signWebhook, webhookSecret } from "../../protocol/signatures/webhook.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { canonicalJson, hashJson, sha256Hex } from "../../protocol/values/canonical-json.ts";
import { hashId } from "../../protocol/values/id.ts";
import { viewTypedData } from "../../server/transactions/views.ts";

const chainId = 31_337;
const contracts = {
  token: getAddress("0x5fbdb2315678afecb367f032d93f642f64180aa3"),
  registrar: getAddress("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512"),
  funding_source: getAddress("0xcafac3dd18ac6c6e92c921884f9e4176737c052c"),
};
const domain = registrarDomain(chainId, contracts.registrar);

/** The private keys of the test accounts: each is one byte, 32 times. */
const privateKeys = {
  operator: repeated("a1"),
  commitment_signer: repeated("a2"),
  merchant: repeated("b1"),
  buyer: repeated("b2"),
  beneficiary: repeated("b3"),
};
type KeyName = keyof typeof privateKeys;

const ids = {
  program: "prg_demo",
  merchant: "mer_abcdefghij234567abcd",
  purchase: "pur_abcdefghij234567abcd",
  claim: "clm_abcdefghij234567abcd",
  event: "evt_abcdefghij234567abcd",
  receipt: "rcp_abcdefghij234567abcd",
};
const terms = { sku: "course-42", title: "Café <A&B> \u{1f600}", seats: [10, 9, 1], "€": null };
const reason = "late – œuvre";

const authorization: FundingAuthorization = {
  program: hashId(ids.program),
  merchantRef: hashId(ids.merchant),
  wallet: account("merchant").address,
  token: contracts.token,
  cap: 10_000n * usdc,
  validUntil: 2n ** 64n - 1n,
  salt: repeated("5a"),
};

const commitment: Commitment = {
  program: hashId(ids.program),
  purchaseRef: hashId(ids.purchase),
  merchant: account("merchant").address,
  buyer: account("buyer").address,
  beneficiary: account("beneficiary").address,
  token: contracts.token,
  amount: 25n * usdc,
  termsHash: hashJson(terms),
  offerDeadline: 1_767_312_000n,
  payDeadline: 1_767_830_400n,
  claimDeadline: 1_769_817_600n,
  salt: repeated("5b"),
};
const commitmentHash = hashCommitment(domain, commitment);

const claim: Claim = {
  commitment: commitmentHash,
  beneficiary: account("beneficiary").address,
  requestedAmount: 10n * usdc,
  reasonHash: hashReason(reason),
};

const permit: Permit = {
  owner: account("buyer").address,
  spender: contracts.registrar,
  value: 25n * usdc,
  nonce: 9_007_199_254_740_993n,
  deadline: 1_767_830_400n,
};

const decision: Decision = {
  award: "10000000",
  chain_id: chainId,
  claim_hash: hashClaim(domain, claim),
  claim_id: ids.claim,
  commitment_hash: commitmentHash,
  decided_at: "2026-01-10T12:00:00Z",
  outcome: "approved",
  program: ids.program,
  purchase: ids.purchase,
  reviewer_key_id: "reviewer",
};

/** Returns the values of docs/vectors.json: messages, calls and signatures of one purchase, computed by the code that the sandbox runs. */
export async function computeVectors() {
  const messages = {
    funding_authorization: await signed(
      "commitment_signer",
      fundingAuthorizationTypedData(domain, authorization),
    ),
    commitment: await signed("commitment_signer", commitmentTypedData(domain, commitment)),
    permit: await signed("buyer", permitTypedData(tokenDomain(chainId, contracts.token), permit)),
    claim: await signed("beneficiary", claimTypedData(domain, claim)),
  };
  return {
    about: "Test vectors. All keys are public: never use them for anything of value.",
    chain_id: chainId,
    contracts,
    accounts: Object.fromEntries(
      Object.entries(privateKeys).map(([name, key]) => [
        name,
        { address: privateKeyToAccount(key).address, private_key: key },
      ]),
    ),
    ids: Object.fromEntries(Object.values(ids).map((id) => [id, hashId(id)])),
    terms: { value: terms, canonical: canonicalJson(terms), sha256: hashJson(terms) },
    reason: { text: reason, keccak256: hashReason(reason) },
    typed_data: messages,
    enrollment: await signedEnrollment(),
    calldata: calldata(messages),
    decision: await signedDecision(),
    ...(await signedDelivery()),
  };
}

/** Returns typed data with its digest, and the signature of an account. */
async function signed(signer: KeyName, typedData: Parameters<typeof viewTypedData>[0]) {
  return {
    typed_data: viewTypedData(typedData),
    digest: hashTypedData(typedData as Parameters<typeof hashTypedData>[0]),
    signer,
    signature: await account(signer).signTypedData(typedData as Parameters<typeof hashTypedData>[0]),
  };
}

async function signedEnrollment() {
  const message = enrollmentMessage({
    program: ids.program,
    merchant: ids.merchant,
    wallet: account("merchant").address,
    chainId,
    registrar: contracts.registrar,
    authorization: hashFundingAuthorization(domain, authorization),
  });
  const signature = await account("merchant").signMessage({ message });
  return { message, digest: hashMessage(message), signer: "merchant", signature };
}

/** Returns one call of each function that the service and its wallets call. */
function calldata(
  messages: {
    [name in "funding_authorization" | "commitment" | "permit"]: { signature: Hex };
  },
) {
  const { registrar, token } = contracts;
  const [operator, commitmentSigner] = [account("operator").address, account("commitment_signer").address];
  const bounds = { maxPurchase: 1_000n * usdc, openBudget: 50_000n * usdc, validUntil: 1_798_761_600 };
  const program = { operator, commitmentSigner, bounds };
  const { deadline } = permit;
  const all = [
    calls.openProgramCall(registrar, commitment.program, program),
    calls.setBoundsCall(registrar, commitment.program, program),
    calls.setPausedCall(registrar, commitment.program, true),
    calls.transferAdminCall(registrar, commitment.program, account("buyer").address),
    calls.acceptAdminCall(registrar, commitment.program),
    calls.enrollCall(registrar, authorization, messages.funding_authorization.signature),
    calls.revokeFundingCall(registrar, commitment.program, authorization.merchantRef),
    calls.offerCall(registrar, commitment, messages.commitment.signature),
    calls.registerCall(registrar, commitment, messages.commitment.signature),
    calls.withdrawOfferCall(registrar, commitmentHash),
    calls.expireCall(registrar, commitmentHash),
    calls.faucetCall(token, account("buyer").address, 25n * usdc),
    calls.approveCall(token, registrar, 25n * usdc),
    calls.payCall(registrar, commitmentHash, 25n * usdc),
    calls.payBatchCall(registrar, [commitmentHash, repeated("5c")], [5n * usdc, 7n * usdc]),
    calls.payWithPermitCall(
      registrar,
      commitmentHash,
      25n * usdc,
      signedPermit(deadline, messages.permit.signature),
    ),
    calls.claimCall(registrar, commitmentHash, decision.claim_hash),
    calls.collectRefundCall(registrar, commitmentHash, 10n * usdc, hashDecision(decision)),
  ];
  return Object.fromEntries(
    all.map(({ function: name, to, args, data }) => {
      const called = calls.functionOf([...purchaseRegistrarAbi, ...testUsdcAbi], data);
      if (called === undefined) throw new Error(`No function has the selector of ${name}.`);
      return [name, { to, signature: toFunctionSignature(called), args, data }];
    }),
  );
}

async function signedDecision() {
  const key = await ed25519Key(bytes("d1"));
  return {
    value: { ...decision },
    bytes: new TextDecoder().decode(decisionBytes(decision)),
    sha256: hashDecision(decision),
    private_key: bytesToHex(key.privateKey),
    public_key: base64urlnopad.encode(key.publicKey),
    approval: signDecision(key.privateKey, decision),
  };
}

/** Returns a notification with both signatures, and the receipt that the receiver signs for it. */
async function signedDelivery() {
  const [key, receiptKey] = [await ed25519Key(bytes("e1")), await ed25519Key(bytes("e2"))];
  const secret = webhookSecret(bytes("e3"));
  const body = JSON.stringify({
    id: ids.event,
    type: "purchase.activated",
    program: ids.program,
    sequence: 4,
    created_at: "2026-01-01T00:00:00Z",
    data: { purchase_id: ids.purchase },
  });
  const receipt = {
    receipt_id: ids.receipt,
    event_id: ids.event,
    body_sha256: sha256Hex(utf8ToBytes(body)),
    receiver: "http://127.0.0.1:4020/v1/routing/notification-receiver",
    received_at: "2026-01-01T00:00:00Z",
  };
  const publicKey = (of: { publicKey: Uint8Array }) => base64urlnopad.encode(of.publicKey);
  return {
    webhook: {
      secret,
      private_key: bytesToHex(key.privateKey),
      public_key: publicKey(key),
      body,
      headers: signWebhook({ id: ids.event, timestamp: 1_767_225_600, body }, { secret, key }),
    },
    delivery_receipt: {
      value: receipt,
      private_key: bytesToHex(receiptKey.privateKey),
      public_key: publicKey(receiptKey),
      key_id: receiptKey.keyId,
      jws: await signDeliveryReceipt(receipt, receiptKey),
    },
  };
}

function account(name: KeyName): PrivateKeyAccount {
  return privateKeyToAccount(privateKeys[name]);
}

function repeated(byte: string): Hex {
  return `0x${byte.repeat(32)}`;
}

function bytes(byte: string): Uint8Array {
  return new Uint8Array(32).fill(Number.parseInt(byte, 16));
}

/** The test vectors, from the code that signs, hashes and encodes. */
export const files = { "docs/vectors.json": `${JSON.stringify(await computeVectors(), null, 1)}\n` };
