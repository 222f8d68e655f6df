/** Signing and verifying with Ed25519 and the recovery of a secp256k1 signer, compared with Node's crypto alone and with JavaScript alone. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { concatBytes, hexToBytes } from "@noble/curves/utils.js";
import { sign as signInJavaScript, verify as verifyInJavaScript } from "@noble/ed25519";
import { hashMessage, recoverAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ed25519Jwk, ed25519Key, signEd25519, verifyEd25519 } from "../../protocol/signatures/ed25519.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Benchmark } from "./benchmark.ts";

const repetitions = 300;
const seed = new Uint8Array(32).fill(7);
const { publicKey } = await ed25519Key(seed);
/** As long as the signed bytes of a decision. */
const message = new Uint8Array(550).fill(120);
const signature = signEd25519(seed, message);
const keyObject = createPublicKey({ key: { ...ed25519Jwk(publicKey) }, format: "jwk" });
const pkcs8 = Buffer.from(concatBytes(hexToBytes("302e020100300506032b657004220420"), seed));
const privateKeyObject = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });

const account = privateKeyToAccount(hashId("a wallet"));
const hash = hashMessage("an enrollment");
const walletSignature = await account.sign({ hash });
const secp256k1 = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
const ecdsa = sign("sha256", message, secp256k1.privateKey);

/** Microseconds for each of many repetitions. */
function each(work: () => unknown): () => Promise<number> {
  return async () => {
    const began = performance.now();
    for (let count = 0; count < repetitions; count += 1) await work();
    return ((performance.now() - began) * 1_000) / repetitions;
  };
}

const verifying = "Ed25519, verified by Node's crypto alone";
const signing = "Ed25519, signed by Node's crypto alone";
const openSsl = "secp256k1, verified by Node's crypto with a known key";

/** The benchmark `signatures`. */
export const benchmark: Benchmark = {
  title: `Microseconds for each of ${repetitions} signatures made or verified`,
  baseline: verifying,
  unit: "µs",
  rounds: 9,
  subjects: {
    [verifying]: each(() => verify(null, message, keyObject, signature)),
    "Ed25519, verified": each(() => verifyEd25519(publicKey, message, signature)),
    "Ed25519, verified in JavaScript": each(() =>
      verifyInJavaScript(signature, message, publicKey, { zip215: false }),
    ),
    [signing]: each(() => sign(null, message, privateKeyObject)),
    "Ed25519, signed": each(() => signEd25519(seed, message)),
    "Ed25519, signed in JavaScript": each(() => signInJavaScript(message, seed)),
    [openSsl]: each(() => verify("sha256", message, secp256k1.publicKey, ecdsa)),
    "secp256k1, signer recovered": each(() => recoverAddress({ hash, signature: walletSignature })),
  },
  comparedTo: {
    [signing]: signing,
    "Ed25519, signed": signing,
    "Ed25519, signed in JavaScript": signing,
    [openSsl]: openSsl,
    "secp256k1, signer recovered": openSsl,
  },
  bars: { "Ed25519, verified": { atMost: 1.5 } },
};
