import {
  claimCall,
  collectRefundCall,
  offerCall,
  payBatchCall,
  payCall,
  registerCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Scene } from "../scene.ts";
import { amounts, ends } from "../values.ts";
import { periods } from "./late-calls.ts";
import { byEveryone, define, type Variant } from "./table-call.ts";
import { type ValidCall, validCalls } from "./valid-calls.ts";

/** The last second in which each function may be called; the others have none. */
const lastSeconds: { readonly [name: string]: number } = {
  register: ends.nextOffer,
  offer: ends.bounds,
  withdrawOffer: ends.bounds,
  pay: ends.pay,
  payBatch: ends.pay,
  payWithPermit: ends.pay,
  claim: ends.claim,
  collectRefund: ends.funding,
};

/** The functions that any account may call. */
const open = ["openProgram", "expire"];

/** Calls of all that can be bought, paid or refunded, and others whose arguments a contract may take for the right caller's. */
const specialCalls: { readonly [name: string]: ValidCall } = {
  "enroll with a smaller cap": {
    by: "stranger",
    call: ({ signed }) => signed.enrollments.stranger["with a smaller cap"],
  },
  "register of the whole cap": { by: "merchant", call: commit(registerCall, amounts.cap) },
  "offer of the largest amount": { by: "operator", call: commit(offerCall, amounts.maxPurchase) },
  "pay of all": {
    by: "buyer",
    call: ({ registrar, purchase: { id } }) => payCall(registrar, id, amounts.purchase),
  },
  "payBatch of all": {
    by: "buyer",
    call: ({ registrar, purchase: { id } }) => payBatchCall(registrar, [id], [amounts.purchase]),
  },
  "claim with the purchase's id as its hash": {
    by: "beneficiary",
    call: ({ registrar, purchase: { id } }) => claimCall(registrar, id, id),
    only: "offer, paid",
  },
  "collectRefund of all that was paid": {
    by: "operator",
    call: ({ registrar, other: { id, commitment } }) =>
      collectRefundCall(registrar, id, commitment.amount, hashId("decision")),
  },
};

function commit(route: typeof registerCall, amount: bigint): ValidCall["call"] {
  return ({ registrar, next }) => {
    const { commitment, signature } = next(amount);
    return route(registrar, commitment, signature);
  };
}

function byOthers(name: string, { by: right, only = "offer, open", ...valid }: ValidCall) {
  return byEveryone(name, { ...valid, only })
    .filter(({ by }) => by !== right)
    .map((variant) => ({ ...variant, call: (scene: Scene) => valid.call(scene, variant.by) }));
}

/** Wrong callers in one state: after each end, if the right one may still call, and with special arguments. */
export const wrongCallers = define<Variant>(
  (_state, { by, name }) => ({
    WrongCaller: true,
    AlreadyEnrolled: name.startsWith("enroll") && (by === "merchant" || by === "other operator"),
  }),
  [
    ...Object.entries(validCalls).flatMap(([name, valid]) =>
      Object.entries(periods).flatMap(([end, last]) =>
        open.includes(name) || last >= (lastSeconds[name] ?? Number.POSITIVE_INFINITY)
          ? []
          : byOthers(`${name} after ${end}`, { ...valid, second: last + 1 }),
      ),
    ),
    ...Object.entries(specialCalls).flatMap(([name, valid]) => byOthers(name, valid)),
  ],
);
