import {
  offerCall,
  payBatchCall,
  payCall,
  registerCall,
  revokeFundingCall,
  withdrawOfferCall,
} from "../../../protocol/call.ts";
import type { Scene } from "../scene.ts";
import { amounts } from "../values.ts";
import { define, type Variant } from "./table-call.ts";

const commit =
  (route: typeof registerCall, amount: bigint = amounts.purchase) =>
  ({ registrar, next }: Scene) => {
    const { commitment, signature } = next(amount);
    return route(registrar, commitment, signature);
  };

const calls = {
  register: { by: "merchant", call: commit(registerCall) },
  offer: { by: "operator", call: commit(offerCall) },
  "offer of one unit": { by: "operator", call: commit(offerCall, 1n) },
  "register of one unit": { by: "merchant", call: commit(registerCall, 1n) },
  enroll: { by: "stranger", call: ({ enroll }) => enroll.stranger },
  "enroll again": { by: "merchant", call: ({ enroll }) => enroll.again },
  "revokeFunding of a new enrollment": {
    by: "merchant",
    call: ({ registrar, program, newMerchantRef }) => revokeFundingCall(registrar, program, newMerchantRef),
  },
  withdrawOffer: {
    by: "operator",
    call: ({ registrar, purchase }) => withdrawOfferCall(registrar, purchase.id),
  },
  pay: { by: "buyer", call: ({ registrar, purchase }) => payCall(registrar, purchase.id, 1n) },
  payBatch: { by: "buyer", call: ({ registrar, purchase }) => payBatchCall(registrar, [purchase.id], [1n]) },
} as const satisfies { [name: string]: Pick<Variant, "by" | "call"> };

/** The calls in the second of a revocation, of a pause, of new bounds, or of the same call: the change holds at once. */
export const sameSecond = define<Variant & { error: string | null }>(
  (_state, { error }): { [error: string]: boolean } => (error === null ? {} : { [error]: true }),
  (
    [
      ["register", "a revocation", "NotEnrolled"],
      ["offer", "a revocation", "NotEnrolled"],
      ["enroll again", "a revocation", null],
      ["pay", "a revocation", null],
      ["revokeFunding of a new enrollment", "another enrollment", null],
      ["register", "a pause", "ProgramPaused"],
      ["offer", "a pause", "ProgramPaused"],
      ["enroll", "a pause", "ProgramPaused"],
      ["pay", "a pause", "ProgramPaused"],
      ["payBatch", "a pause", "ProgramPaused"],
      ["withdrawOffer", "a pause", null],
      ["pay", "a withdrawal", "WrongStatus"],
      ["payBatch", "a withdrawal", "WrongStatus"],
      ["offer", "the end of the bounds", "DeadlinePassed"],
      ["withdrawOffer", "the end of the bounds", "DeadlinePassed"],
      ["register", "the end of the bounds", null],
      ["pay", "the end of the bounds", null],
      ["offer", "a largest purchase of zero", "AmountOutOfRange"],
      ["offer", "a budget of zero", "BudgetExceeded"],
      ["offer of one unit", "another offer", null],
      ["register of one unit", "another registration", null],
    ] as const
  ).map(([name, after, error]) => ({
    ...calls[name],
    name: `${name} in the second of ${after}`,
    only: "offer, open",
    after,
    error,
  })),
);
