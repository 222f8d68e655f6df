import {
  acceptAdminCall,
  type Call,
  claimCall,
  collectRefundCall,
  expireCall,
  offerCall,
  openProgramCall,
  payBatchCall,
  payCall,
  payWithPermitCall,
  registerCall,
  revokeFundingCall,
  setBoundsCall,
  setPausedCall,
  transferAdminCall,
  withdrawOfferCall,
} from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Scene } from "../scene.ts";
import type { Preparation } from "../steps.ts";
import { actors, amounts, ends, newProgram, type Role } from "../values.ts";
import type { TableCall } from "./table-call.ts";

/** A call that breaks no rule. */
export interface ValidCall {
  by: Role;
  /** Made for the caller `by` if a wrong one shall break no other rule: of another account, the buyer's permit would. */
  call: (scene: Scene, by?: Role) => Call;
  only?: TableCall["only"];
  after?: Preparation;
  second?: number;
  /** The number of words before the offset of its last argument, if that has no fixed length. */
  offsetAt?: number;
}

const commit =
  (route: typeof registerCall) =>
  ({ registrar, next }: Scene) => {
    const { commitment, signature } = next(amounts.purchase);
    return route(registrar, commitment, signature);
  };

/** Returns a payment of the state's purchase with a permit that its caller signs. */
export function payWithOwnPermit(
  { registrar, purchase: { id, commitment }, fixture }: Scene,
  amount: bigint,
  by: Role = "buyer",
): Call {
  const own = by === "buyer" ? {} : { owner: fixture.address(actors[by]), nonce: 0n };
  const permit = fixture.signPermit({ value: amount, deadline: commitment.payDeadline, ...own }, actors[by]);
  return payWithPermitCall(registrar, id, amount, permit);
}

/** A valid call of each function that changes state. */
export const validCalls: { readonly [name: string]: ValidCall } = {
  openProgram: {
    by: "stranger",
    call: ({ registrar, terms }) => openProgramCall(registrar, newProgram, terms()),
  },
  setBounds: {
    by: "admin",
    call: ({ registrar, program, terms }) => setBoundsCall(registrar, program, terms()),
  },
  setPaused: { by: "admin", call: ({ registrar, program }) => setPausedCall(registrar, program, true) },
  transferAdmin: {
    by: "admin",
    call: ({ registrar, program, fixture }) =>
      transferAdminCall(registrar, program, fixture.address(actors.stranger)),
  },
  acceptAdmin: {
    by: "stranger",
    after: "a transfer of the admin",
    call: ({ registrar, program }) => acceptAdminCall(registrar, program),
  },
  enroll: { by: "stranger", call: ({ enroll }) => enroll.stranger, offsetAt: 7 },
  revokeFunding: {
    by: "merchant",
    call: ({ registrar, program, merchantRef }) => revokeFundingCall(registrar, program, merchantRef),
  },
  register: { by: "merchant", call: commit(registerCall), offsetAt: 12 },
  offer: { by: "operator", call: commit(offerCall), offsetAt: 12 },
  withdrawOffer: {
    by: "operator",
    call: ({ registrar, purchase }) => withdrawOfferCall(registrar, purchase.id),
  },
  expire: {
    by: "stranger",
    call: ({ registrar, purchase }) => expireCall(registrar, purchase.id),
    second: ends.pay + 1,
  },
  pay: { by: "buyer", call: ({ registrar, purchase }) => payCall(registrar, purchase.id, 1n) },
  payBatch: {
    by: "buyer",
    call: ({ registrar, purchase, mates }) =>
      payBatchCall(registrar, [purchase.id, mates.buyer[0]], [1n, 1n]),
    offsetAt: 1,
  },
  payWithPermit: {
    by: "buyer",
    call: (scene, by) => payWithOwnPermit(scene, 1n, by),
  },
  claim: {
    by: "beneficiary",
    call: ({ registrar, purchase }) => claimCall(registrar, purchase.id, hashId("claim")),
    only: "offer, paid",
  },
  collectRefund: {
    by: "operator",
    call: ({ registrar, other }) => collectRefundCall(registrar, other.id, 1n, hashId("decision")),
  },
};
