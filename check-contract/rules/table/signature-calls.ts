import { type Hex, hashStruct } from "viem";
import { type Call, enrollCall, offerCall, registerCall } from "../../../protocol/call.ts";
import { hashCommitment, purchaseTypes } from "../../../protocol/messages/commitment.ts";
import {
  fundingAuthorizationTypes,
  hashFundingAuthorization,
} from "../../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { signDigest } from "../../fixture/sign-digest.ts";
import { otherProgram, type Scene } from "../scene.ts";
import { forgedForms, type SignedMessage } from "../signature-forms.ts";
import {
  askedByCode,
  delegatingKey,
  formerSigner,
  keyWithCode,
  noSigner,
  type SignerWithCode,
} from "../signers.ts";
import { actors, amounts, type Role } from "../values.ts";
import { define, everyone, type Variant } from "./table-call.ts";

/** Returns the signature of a message. */
type Sign = (message: SignedMessage, scene: Scene) => Hex;

/** The functions that take a signature: who calls them, and the call with a signature, in a program that may be another one. */
const signedCalls = {
  enroll: { by: "stranger", call: enrollWith },
  offer: { by: "operator", call: commitWith(offerCall) },
  register: { by: "merchant", call: commitWith(registerCall) },
} as const satisfies {
  [name: string]: { by: Role; call: (scene: Scene, sign: Sign, program?: Hex) => Call };
};

function enrollWith(scene: Scene, sign: Sign, program = scene.program): Call {
  const message = { ...scene.authorization, program };
  const types = fundingAuthorizationTypes;
  const struct = hashStruct({ data: message, types, primaryType: "FundingAuthorization" });
  const signature = sign({ struct, ...digestsOf(scene, hashFundingAuthorization, message) }, scene);
  return enrollCall(scene.registrar, message, signature);
}

function commitWith(route: typeof registerCall) {
  return (scene: Scene, sign: Sign, program = scene.program): Call => {
    const message = { ...scene.next(amounts.purchase).commitment, program };
    const struct = hashStruct({ data: message, types: purchaseTypes, primaryType: "Purchase" });
    const digests = { struct, ...digestsOf(scene, hashCommitment, message) };
    return route(scene.registrar, message, sign(digests, scene));
  };
}

function digestsOf<M>(
  { fixture: { domain, contracts } }: Scene,
  hash: (of: Scene["fixture"]["domain"], message: M) => Hex,
  message: M,
): Omit<SignedMessage, "struct"> {
  return {
    digest: hash(domain, message),
    elsewhere: {
      chain: hash({ ...domain, chainId: 1 }, message),
      contract: hash({ ...domain, verifyingContract: contracts.funding_source }, message),
    },
  };
}

const routes = Object.keys(signedCalls) as (keyof typeof signedCalls)[];

/** Returns one call for each function that takes a signature. */
function each<V>(
  variants: readonly V[],
  describe: (variant: V) => Omit<Variant, "by" | "call"> & { sign: Sign; program?: Hex },
): Variant[] {
  return routes.flatMap((route) =>
    variants.map((variant) => {
      const { name, sign, program, ...rest } = describe(variant);
      const { by, call } = signedCalls[route];
      return {
        ...rest,
        name: `${route} with ${name}`,
        by,
        only: "offer, open",
        call: (scene: Scene) => call(scene, sign, program),
      };
    }),
  );
}

const forms = Object.keys(forgedForms);

function forge(form: string, key?: Hex): Sign {
  return (message, { signerKey }) => forgedForms[form]?.(message, key ?? signerKey) ?? "0x";
}

function signBy(role: Role): Sign {
  return ({ digest }, { fixture }) => fixture.signDigest(actors[role], digest);
}

/** Signatures that are valid, but of another program, or of a message that the contract has accepted before. */
const otherSignatures: { readonly [name: string]: Sign } = {
  "a signature of another program's commitment signer": ({ digest }, { fixture }) =>
    signDigest(digest, fixture.programKeys(otherProgram).commitmentSigner.privateKey),
  "the signature of an offer": (_message, { purchase }) => purchase.signature,
  "the signature of a registration": (_message, { other }) => other.signature,
  "the signature of an enrollment": (_message, { firstSignature }) => firstSignature,
};

/** The signatures that no signer's key makes, with and without a commitment signer, and those of something else. */
export const signatures = define(
  () => ({ InvalidSignature: true }),
  [
    ...each(Object.entries(otherSignatures), ([name, sign]) => ({ name, sign })),
    ...each(
      everyone.filter((role) => role !== "commitment signer"),
      (role) => ({ name: `a signature of the ${role}`, sign: signBy(role) }),
    ),
    ...each(["stranger"] as const, (role) => ({
      name: "a signature of the named admin",
      after: "a transfer of the admin" as const,
      sign: signBy(role),
    })),
    ...each(forms, (form) => ({ name: form, rule: `${form} is refused`, sign: forge(form) })),
    ...each(forms, (form) => ({
      name: `${form}, without a commitment signer`,
      rule: `${noSigner}: ${form}`,
      after: "the end of the commitment signer",
      sign: forge(form),
    })),
    ...each(everyone, (role) => ({
      name: `a signature of the ${role}, without a commitment signer`,
      rule: noSigner,
      after: "the end of the commitment signer",
      sign: signBy(role),
    })),
  ],
);

const byFormer = "a signature of the former commitment signer";
const again = "another commitment signer, and the former one again";

/** The signatures of a key that was the signer's, and of one that is again. */
export const formerSigners = define(
  (_state, { after }) => ({ InvalidSignature: after !== again }),
  each(
    [
      { name: byFormer, rule: formerSigner, after: "another commitment signer" },
      {
        name: `${byFormer}, which is set again`,
        rule: `${byFormer} counts when it is set again`,
        after: again,
      },
    ] as const,
    (variant) => ({ ...variant, sign: ({ digest }, { signerKey }) => signDigest(digest, signerKey) }),
  ),
);

/** The signatures for a program that is not open. */
export const unknownPrograms = define(
  (_state, { by }) => ({
    ProgramNotOpen: true,
    InvalidSignature: true,
    NotEnrolled: by !== "stranger",
    WrongCaller: by === "operator",
    DeadlinePassed: by === "operator",
    AmountOutOfRange: by === "operator",
    BudgetExceeded: by === "operator",
  }),
  each(forms, (form) => ({
    name: `${form} in a program that is not open`,
    rule: noSigner,
    program: hashId("prg_unknown"),
    sign: forge(form),
  })),
);

const withSigner = (signer: SignerWithCode, what: string, sign: Sign) => ({
  name: `${what} for a commitment signer ${signer}`,
  after: `a commitment signer ${signer}` as const,
  sign,
});
const zeroes = forge("a signature of 65 zero bytes");

/** Signatures that a contract judges. */
export const contractSigners = define(
  (_state, { after }) => ({
    InvalidSignature: !/accepts (?:every signature|signatures of 1,000 bytes)$/.test(after ?? ""),
  }),
  each(
    [
      withSigner("whose account has code", "a signature of its key", ({ digest }) =>
        signDigest(digest, keyWithCode),
      ),
      withSigner("whose account has code", "65 zero bytes", zeroes),
      withSigner("that delegates to code", "a signature of its key", ({ digest }) =>
        signDigest(digest, delegatingKey),
      ),
      withSigner("that delegates to code and accepts every signature", "65 zero bytes", zeroes),
      withSigner("that accepts every signature", "65 zero bytes", zeroes),
      withSigner("that accepts every signature", "an empty signature", () => "0x"),
      // Of a wallet with several owners, or of a passkey.
      withSigner(
        "that accepts signatures of 1,000 bytes",
        "a signature of 1,000 bytes",
        () => `0x${"01".repeat(1_000)}`,
      ),
      withSigner("that answers two words and accepts every signature", "65 zero bytes", zeroes),
      withSigner("that reads the registrar contract and accepts every signature", "65 zero bytes", zeroes),
      withSigner("that uses 200,000 gas and accepts every signature", "65 zero bytes", zeroes),
      withSigner("that answers one", "65 zero bytes", zeroes),
      ...everyone.map((role) => withSigner("that answers one", `a signature of the ${role}`, signBy(role))),
      withSigner("that answers the magic value with other bytes", "65 zero bytes", zeroes),
      withSigner("that reverts with the magic value", "65 zero bytes", zeroes),
    ],
    (variant) => ({
      ...variant,
      rule: askedByCode,
    }),
  ),
);
