import type { Hex } from "viem";
import { enrollCall, revokeFundingCall, setPausedCall } from "../../protocol/call.ts";
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const demo = hashId("prg_demo");
const unknown = hashId("prg_unknown");

/** Returns a function that enrolls as an authorization says, with other fields instead of its own. */
function enrollments(recorder: CallRecorder) {
  return async (
    rule: string,
    fields: Partial<FundingAuthorization> = {},
    {
      actor = "other_merchant",
      signedBy = "prg_demo",
      signature: other,
      seconds,
      errors = [],
    }: {
      actor?: Actor;
      signedBy?: string;
      /** The signature of another message, in place of one of the authorization. */
      signature?: Hex;
      seconds?: bigint;
      errors?: readonly string[];
    } = {},
  ) => {
    const { authorization, signature: own } = await recorder.authorize(fields, signedBy);
    const timestamp = seconds === undefined ? undefined : authorization.validUntil + seconds;
    const call = enrollCall(recorder.registrar, authorization, other ?? own);
    await recorder.callRefusedWith(errors, rule, actor, call, timestamp);
    return own;
  };
}

/** The calls by which a merchant enrolls a wallet, and revokes its funding. */
export const enrollmentCalls: CallSequence = {
  name: "enrollment",
  async run(recorder) {
    const { registrar, fixture } = recorder;
    const enroll = enrollments(recorder);
    const zero = `0x${"00".repeat(32)}` as const;
    const taken = hashId(fixture.merchant.id);
    await enroll("only the wallet of the authorization enrolls", {}, { actor: "stranger" });
    await enroll("a funding above 128 bits is refused", { cap: 2n ** 128n + usdc });
    await enroll("a funding of zero is refused", { cap: 0n });
    await enroll("a funding until the second zero is refused", { validUntil: 0n });
    await enroll("an enrollment with a zero merchantRef is refused", { merchantRef: zero });
    await enroll("a merchantRef cannot be used twice", { merchantRef: taken });
    await enroll(
      "a wallet cannot be enrolled twice in a program",
      { wallet: fixture.address("merchant") },
      { actor: "merchant" },
    );
    await enroll(
      "an enrollment that another program's commitment signer signed is refused",
      {},
      { signedBy: "prg_other" },
    );
    await enroll(
      "an enrollment in an unknown program is refused",
      { program: unknown },
      { errors: ["ProgramNotOpen", "InvalidSignature"] },
    );
    await recorder.call("the program is paused", "deployer", setPausedCall(registrar, demo, true));
    await enroll("an enrollment while the program is paused is refused");
    await recorder.call("the pause is over", "deployer", setPausedCall(registrar, demo, false));
    await enroll("an enrollment one second after the end of its funding is refused", {}, { seconds: 1n });
    await enroll(
      "a funding of the largest cap is stored whole",
      { wallet: fixture.address("other_buyer"), merchantRef: hashId("mrc_largest"), cap: 2n ** 128n - 1n },
      { actor: "other_buyer" },
    );
    const used = await enroll(
      "an enrollment in the last second of its funding succeeds",
      {},
      { seconds: 0n },
    );
    await enroll("an enrolled wallet cannot enroll under another merchantRef", {
      merchantRef: hashId("mrc_more"),
    });
    await revokeAndEnrollAgain(recorder, used);
  },
};

/** The revocation of a funding, and the enrollments after it. */
async function revokeAndEnrollAgain(recorder: CallRecorder, used: Hex): Promise<void> {
  const { registrar } = recorder;
  const enroll = enrollments(recorder);
  const revoke = (ref = hashId("mrc_calls"), program = demo) => revokeFundingCall(registrar, program, ref);
  await recorder.call("only the wallet revokes its funding", "stranger", revoke());
  await recorder.call("the admin cannot revoke a funding", "deployer", revoke());
  await recorder.call("an unknown funding cannot be revoked", "other_merchant", revoke(hashId("mrc_none")));
  await recorder.call(
    "a funding cannot be revoked under another program",
    "other_merchant",
    revoke(hashId("mrc_calls"), hashId("prg_other")),
  );
  await recorder.call("a merchant revokes its funding", "other_merchant", revoke());
  await recorder.call("a funding cannot be revoked twice", "other_merchant", revoke());
  await enroll("a merchantRef cannot be used again after a revocation");
  await enroll(
    "an enrollment under another merchantRef with a used signature is refused",
    { merchantRef: hashId("mrc_again") },
    { signature: used },
  );
  await enroll("a wallet enrolls again under another merchantRef", { merchantRef: hashId("mrc_again") });
  await recorder.call(
    "a revoked funding cannot be revoked after a new enrollment",
    "other_merchant",
    revoke(),
  );
  await enroll(
    "a wallet enrolls in several programs under one merchantRef",
    { program: hashId("prg_other") },
    { signedBy: "prg_other" },
  );
}
