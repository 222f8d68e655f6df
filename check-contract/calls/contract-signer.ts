import { encodeFunctionData, type Hex, pad } from "viem";
import { enrollCall, offerCall, registerCall, setBoundsCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import { contractSignerAbi } from "../adversary-abi.ts";
import { askedByCode } from "../rules/signers.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");

interface Sending {
  /** The program whose commitment signer signs. */
  signedBy?: string;
  /** The signature, in place of one of a commitment signer's key. */
  signature?: Hex;
}

/** Returns a function that brings a purchase on chain by one route. */
function commitments(recorder: CallRecorder, route: typeof offerCall, actor: "operator" | "merchant") {
  return async (rule: string, { signedBy, signature }: Sending = {}) => {
    const signed = await recorder.sign({}, signedBy);
    const call = route(recorder.registrar, signed.commitment, signature ?? signed.signature);
    await recorder.call(rule, actor, call);
  };
}

type Commit = ReturnType<typeof commitments>;

/** Calls that a commitment signer with code has signed (ERC-1271). */
export const contractSignerCalls: CallSequence = {
  name: "contract signer",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const { operator, commitmentSigner: owner, bounds } = await recorder.programState();
    const register = commitments(recorder, registerCall, "merchant");
    const offer = commitments(recorder, offerCall, "operator");
    await fixture.client.setCode({ address: owner, bytecode: "0x00" });
    await register("a signature of the key of a signer that has got code since is refused");
    recorder.tried("register", askedByCode);
    await fixture.client.setCode({ address: owner, bytecode: "0x" });
    const signer = await fixture.deploy("ContractSigner", "ContractSigner", pad(owner));
    const terms = {
      operator,
      commitmentSigner: signer,
      bounds: { ...bounds, validUntil: Number(bounds.validUntil) },
    };
    const set = setBoundsCall(registrar, demo, terms);
    await recorder.call("the admin names a contract as the commitment signer", "deployer", set);
    const { authorization, signature } = await recorder.authorize();
    const enroll = enrollCall(registrar, authorization, signature);
    await recorder.call("an enrollment that a contract signs is accepted", "other_merchant", enroll);
    recorder.tried("enroll", askedByCode);
    await register("a registration that a contract signs is accepted");
    recorder.tried("register", askedByCode);
    await offer("an offer that a contract signs is accepted");
    recorder.tried("offer", askedByCode);
    await register("a signature that the contract does not accept is refused", { signedBy: "prg_other" });
    recorder.tried("register", askedByCode);
    const behave = (behavior: number) => ({
      to: signer,
      data: encodeFunctionData({ abi: contractSignerAbi, functionName: "setBehavior", args: [behavior] }),
    });
    for (const [behavior, what] of refusing) {
      await recorder.call(`the signer is set so that ${what}`, "stranger", behave(behavior));
      await offer(`an offer while ${what} is refused`);
      recorder.tried("offer", askedByCode);
    }
    await recorder.call("the signer accepts every signature", "stranger", behave(1));
    const { commitment } = await recorder.sign();
    const short = registerCall(registrar, commitment, "0x01");
    await recorder.call("a contract's signature can have any length", "merchant", short);
    recorder.tried("register", askedByCode);
    await signAlike(recorder, { register, offer });
  },
};

/** Calls with the same bytes as their signatures, by which a contract may say that it has approved each. */
async function signAlike(recorder: CallRecorder, { register, offer }: { [route: string]: Commit }) {
  const signature = "0x01";
  await register?.("another registration with the same signature of a contract", { signature });
  for (const what of ["an offer", "another offer"])
    await offer?.(`${what} with the same signature of a contract`, { signature });
  for (const actor of ["other_buyer", "stranger"] as const) {
    const fields = { wallet: recorder.fixture.address(actor), merchantRef: hashId(`mrc_${actor}`) };
    const { authorization } = await recorder.authorize(fields);
    const call = enrollCall(recorder.registrar, authorization, signature);
    await recorder.call(`an enrollment of the ${actor} with the same signature of a contract`, actor, call);
  }
}

/** Behaviors of ContractSigner by which it accepts no signature. */
const refusing = [
  [2, "its signer accepts no signature"],
  [3, "its signer returns too few bytes"],
  [4, "its signer reverts"],
] as const;
