import { type Hex, zeroAddress } from "viem";
import {
  acceptAdminCall,
  type Call,
  openProgramCall,
  type ProgramTerms,
  setBoundsCall,
  setPausedCall,
  transferAdminCall,
} from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

const unknown = hashId("prg_unknown");
const opened = hashId("prg_opened");
const ended = hashId("prg_ended");
const bare = hashId("prg_bare");
const largest = 2n ** 128n - 1n;

/** The terms of a program of the stranger. */
function termsOf({ fixture }: CallRecorder, bounds: Partial<ProgramTerms["bounds"]> = {}): ProgramTerms {
  return {
    operator: fixture.address("other_buyer"),
    commitmentSigner: fixture.address("other_merchant"),
    bounds: { maxPurchase: 70n, openBudget: 900n, validUntil: 1_900_000_000, ...bounds },
  };
}

/** The calls of a program's admin. */
export const programCalls: CallSequence = {
  name: "programs",
  async run(recorder) {
    const { registrar } = recorder;
    recorder.watchProgram(opened);
    recorder.watchProgram(unknown);
    recorder.watchProgram(ended);
    recorder.watchProgram(bare);
    const open = (bounds: Partial<ProgramTerms["bounds"]> = {}, program = opened) =>
      openProgramCall(registrar, program, termsOf(recorder, bounds));
    const set = (bounds: Partial<ProgramTerms["bounds"]> = {}, program = opened) =>
      setBoundsCall(registrar, program, {
        ...termsOf(recorder, bounds),
        operator: recorder.fixture.address("buyer"),
      });
    await openPrograms(recorder, open);
    await recorder.call("only the admin sets the bounds", "other_buyer", set());
    await recorder.call("the bounds of an unknown program cannot be set", "stranger", set({}, unknown));
    await recorder.call(
      "new bounds above 128 bits are refused",
      "stranger",
      set({ maxPurchase: largest + 2n }),
    );
    await recorder.call(
      "a new budget above 128 bits is refused",
      "stranger",
      set({ openBudget: largest + 2n }),
    );
    await recorder.call(
      "the admin sets operator, commitment signer and bounds",
      "stranger",
      set({ maxPurchase: largest, openBudget: largest, validUntil: 1_950_000_000 }),
    );
    await recorder.call(
      "bounds may be zero",
      "stranger",
      set({ maxPurchase: 0n, openBudget: 0n, validUntil: 0 }),
    );
    await pauseProgram(recorder, set);
    await transferAdmin(recorder, set);
  },
};

/** The calls that open programs. */
async function openPrograms(
  recorder: CallRecorder,
  open: (bounds?: Partial<ProgramTerms["bounds"]>, program?: Hex) => Call,
): Promise<void> {
  const zero = `0x${"00".repeat(32)}` as const;
  await recorder.call("a program with a zero id is refused", "stranger", open({}, zero));
  await recorder.call(
    "a largest purchase above 128 bits is refused",
    "stranger",
    open({ maxPurchase: largest + 2n }),
  );
  await recorder.call("a budget above 128 bits is refused", "stranger", open({ openBudget: largest + 2n }));
  await recorder.call("the caller that opens a program is its admin", "stranger", open());
  await recorder.call(
    "a program can be opened with bounds that have ended",
    "stranger",
    open({ validUntil: 1 }, ended),
  );
  await recorder.call(
    "a program can be opened without an operator and a commitment signer",
    "stranger",
    openProgramCall(recorder.registrar, bare, {
      ...termsOf(recorder),
      operator: zeroAddress,
      commitmentSigner: zeroAddress,
    }),
  );
  await recorder.call("a program cannot be opened twice", "other_buyer", open({ maxPurchase: 1n }));
}

/** The calls that begin and end a pause. */
async function pauseProgram(recorder: CallRecorder, set: () => Call): Promise<void> {
  const { registrar } = recorder;
  await recorder.call("only the admin pauses", "other_buyer", setPausedCall(registrar, opened, true));
  await recorder.call(
    "an unknown program cannot be paused",
    "stranger",
    setPausedCall(registrar, unknown, true),
  );
  await recorder.call("the admin pauses the program", "stranger", setPausedCall(registrar, opened, true));
  await recorder.call("new bounds are set during a pause, and do not end it", "stranger", set());
  await recorder.call("the admin ends the pause", "stranger", setPausedCall(registrar, opened, false));
  await recorder.call("new bounds leave the open offers as they are", "deployer", {
    ...setBoundsCall(registrar, hashId("prg_demo"), termsOf(recorder)),
  });
}

/** The calls by which a program gets another admin. The program's operator is the buyer. */
async function transferAdmin(recorder: CallRecorder, set: () => Call): Promise<void> {
  const { registrar, fixture } = recorder;
  const name = (actor: "other_buyer" | "other_merchant") =>
    transferAdminCall(registrar, opened, fixture.address(actor));
  const accept = acceptAdminCall(registrar, opened);
  const pause = (paused: boolean) => setPausedCall(registrar, opened, paused);
  await recorder.call("only the admin names another admin", "other_buyer", name("other_buyer"));
  await recorder.call("the operator cannot name another admin", "buyer", name("other_buyer"));
  for (const call of [
    transferAdminCall(registrar, unknown, fixture.address("other_buyer")),
    acceptAdminCall(registrar, unknown),
  ])
    await recorder.callRefusedWith(
      ["ProgramNotOpen", "WrongCaller"],
      `${call.function} of an unknown program is refused`,
      "stranger",
      call,
    );
  await recorder.call("a wallet cannot become the admin without a transfer", "other_buyer", accept);
  await recorder.call("the admin names the wallet that may accept", "stranger", name("other_buyer"));
  await recorder.call("the operator cannot accept for the named wallet", "buyer", accept);
  await recorder.call("the admin cannot accept for the named wallet", "stranger", accept);
  await recorder.call("the named wallet cannot pause before it accepts", "other_buyer", pause(true));
  await recorder.call("the admin sets the bounds while a transfer is pending", "stranger", set());
  await recorder.call("a second transfer replaces the first", "stranger", name("other_merchant"));
  await recorder.call("a wallet that was named before cannot accept", "other_buyer", accept);
  await recorder.call(
    "the admin withdraws a transfer",
    "stranger",
    transferAdminCall(registrar, opened, zeroAddress),
  );
  await recorder.call("a withdrawn transfer cannot be accepted", "other_merchant", accept);
  await recorder.call("the admin names a wallet again", "stranger", name("other_buyer"));
  await recorder.call("the admin pauses while a transfer is pending", "stranger", pause(true));
  await recorder.call("the named wallet becomes the admin, and the pause stays", "other_buyer", accept);
  await recorder.call("a transfer cannot be accepted twice", "other_buyer", accept);
  await recorder.call("the former admin cannot end the pause", "stranger", pause(false));
  await recorder.call("the new admin ends the pause", "other_buyer", pause(false));
  const ownTerms = {
    ...termsOf(recorder),
    operator: fixture.address("other_buyer"),
    commitmentSigner: fixture.address("other_merchant"),
  };
  const own = setBoundsCall(registrar, opened, ownTerms);
  await recorder.call("the admin makes itself the operator", "other_buyer", own);
  await recorder.call("the admin names the commitment signer", "other_buyer", name("other_merchant"));
  await recorder.call("another admin leaves operator and commitment signer", "other_merchant", accept);
  const again = openProgramCall(registrar, opened, ownTerms);
  await recorder.call("a program with another admin cannot be opened twice", "stranger", again);
}
