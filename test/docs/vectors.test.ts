import { createHash, createHmac, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  computeAddress,
  hashMessage,
  Interface,
  id as keccakOfText,
  SigningKey,
  TypedDataEncoder,
} from "ethers";
import { expect, test } from "vitest";
import vectors from "../../docs/vectors.json" with { type: "json" };
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";

const accounts: { [name: string]: { address: string; private_key: string } } = vectors.accounts;

/** RFC 8785, for the values of the vectors: sorted names, no spaces. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

function sha256(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

/** The Ed25519 private key of a 32-byte seed, as PKCS #8 (RFC 8410). */
function ed25519(seed: string) {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, "hex");
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

function publicKeyOf(seed: string): unknown {
  return createPublicKey(ed25519(seed)).export({ format: "jwk" })["x"];
}

/** Returns arguments in order, structs as arrays. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.values(value).map(inOrder);
}

test("docs/languages.md lists every member of the vectors", async () => {
  const page = await readFile(new URL("../../docs/languages.md", import.meta.url), "utf8");
  const section = page.split("\n## Test vectors\n")[1]?.split("\n## ")[0] ?? "";
  const entries = section.split("\n").filter((line) => line.startsWith("- "));
  const members = entries.flatMap((entry) => entry.split(": ")[0]?.match(/(?<=`)\w+(?=`)/g) ?? []);
  expect(members.toSorted()).toEqual(Object.keys(vectors).toSorted());
});

test.each(Object.entries(accounts))("the address of the vectors' %s is that of its key", (_, account) => {
  const { address, private_key } = account;
  expect(address).toBe(computeAddress(private_key));
});

test.each(Object.entries(vectors.typed_data))(
  "the digest and the signature of the vector %s are those of ethers",
  (_, { typed_data, ...vector }) => {
    const { EIP712Domain: _domain, ...types } = typed_data.types;
    const digest = TypedDataEncoder.hash(typed_data.domain, types, typed_data.message);
    expect(vector.digest).toBe(digest);
    const { private_key = "" } = accounts[vector.signer] ?? {};
    expect(vector.signature).toBe(new SigningKey(private_key).sign(digest).serialized);
  },
);

test("the enrollment text of the vectors has the digest and the signature of ethers", () => {
  const { message, digest, signature } = vectors.enrollment;
  expect(message).toContain(`Funding authorization: ${vectors.typed_data.funding_authorization.digest}`);
  expect(digest).toBe(hashMessage(message));
  expect(signature).toBe(new SigningKey(vectors.accounts.merchant.private_key).sign(digest).serialized);
});

test.each(Object.entries(vectors.calldata))(
  "the calldata of the vector %s is that of ethers",
  (name, call) => {
    const encoded = new Interface([`function ${call.signature}`]).encodeFunctionData(
      name,
      Object.values(call.args).map(inOrder),
    );
    expect(call.data).toBe(encoded);
  },
);

test("the vectors have calldata of every function of the registrar contract that changes state", () => {
  const changing = purchaseRegistrarAbi.filter(
    (entry) => entry.type === "function" && entry.stateMutability !== "view",
  );
  const names = changing.map((entry) => ("name" in entry ? entry.name : ""));
  expect(Object.keys(vectors.calldata)).toEqual(expect.arrayContaining(names));
});

test("the hashes of the vectors' ids, terms and reason are those of ethers and node:crypto", () => {
  for (const [id, hash] of Object.entries(vectors.ids)) expect(hash).toBe(keccakOfText(id));
  expect(vectors.reason.keccak256).toBe(keccakOfText(vectors.reason.text));
  expect(vectors.terms.canonical).toBe(canonical(vectors.terms.value));
  expect(vectors.terms.sha256).toBe(sha256(vectors.terms.canonical));
  const { commitment, claim } = vectors.typed_data;
  expect(commitment.typed_data.message.termsHash).toBe(vectors.terms.sha256);
  expect(claim.typed_data.message).toMatchObject({
    commitment: commitment.digest,
    reasonHash: vectors.reason.keccak256,
  });
});

test("the decision of the vectors has the bytes, the hash and the approval of node:crypto", () => {
  const { value, bytes, private_key, public_key, approval } = vectors.decision;
  expect(bytes).toBe(`routing-sandbox/decision/v1\n${canonical(value)}`);
  expect(vectors.decision.sha256).toBe(sha256(bytes));
  expect(public_key).toBe(publicKeyOf(private_key));
  expect(approval).toBe(sign(null, Buffer.from(bytes), ed25519(private_key)).toString("base64url"));
  expect(vectors.calldata.collectRefund.args.decisionHash).toBe(vectors.decision.sha256);
});

test("the notification of the vectors has both signatures of node:crypto", () => {
  const { secret, private_key, public_key, body, headers } = vectors.webhook;
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const hmac = createHmac("sha256", Buffer.from(secret.replace("whsec_", ""), "base64")).update(content);
  const signature = sign(null, Buffer.from(content), ed25519(private_key)).toString("base64");
  expect(headers["webhook-signature"]).toBe(`v1,${hmac.digest("base64")} v1a,${signature}`);
  expect(public_key).toBe(publicKeyOf(private_key));
});

test("the delivery receipt of the vectors is a JWS of its value that node:crypto verifies", () => {
  const { value, private_key, public_key, key_id, jws } = vectors.delivery_receipt;
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const text = (part: string) => Buffer.from(part, "base64url").toString();
  expect(JSON.parse(text(header))).toEqual({ alg: "EdDSA", kid: key_id, typ: "routing-receipt+jws" });
  expect(text(payload)).toBe(canonical(value));
  expect(value.body_sha256).toBe(sha256(vectors.webhook.body));
  const bytes = Buffer.from(`${header}.${payload}`);
  const key = ed25519(private_key);
  expect(verify(null, bytes, createPublicKey(key), Buffer.from(signature, "base64url"))).toBe(true);
  expect(public_key).toBe(publicKeyOf(private_key));
});

test("the chain and the contracts are those of a sandbox", async () => {
  const sandbox = await freshSandbox();
  const { chain, contracts } = sandbox.description;
  expect({ chain_id: vectors.chain_id, ...vectors.contracts }).toEqual({
    chain_id: chain.chain_id,
    ...contracts,
  });
});
