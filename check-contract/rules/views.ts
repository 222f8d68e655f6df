import { type Address, concatHex, type Hex } from "viem";
import { hashId } from "../../protocol/values/id.ts";
import { encodeView, type ViewName } from "../fixture/effects.ts";
import { otherProgram, type Scene } from "./scene.ts";
import { actors, amounts, newProgram } from "./values.ts";

/** A view with its arguments. */
export interface View {
  view: ViewName;
  name: string;
  data: Hex;
}

/** Returns the views that are read after a call that succeeded. */
export function viewsOf({
  program,
  merchantRef,
  newMerchantRef,
  purchase,
  other,
  next,
  fixture,
}: Scene): readonly View[] {
  return [
    viewOf("programState", program),
    viewOf("pendingAdmin", program),
    viewOf("purchase", purchase.id),
    viewOf("figures", purchase.id),
    viewOf("purchase", other.id),
    viewOf("purchase", next(amounts.purchase).id),
    viewOf("funding", program, merchantRef),
    viewOf("funding", program, newMerchantRef),
    viewOf("enrolledAs", program, fixture.address(actors.merchant)),
  ];
}

/** Returns the views that are read after some calls only. */
export function otherViews({ mates, merchantRef, purchase, authorization, fixture }: Scene): readonly View[] {
  const elsewhere = hashId(otherProgram);
  const claim = {
    commitment: purchase.id,
    beneficiary: fixture.address(actors.beneficiary),
    requestedAmount: amounts.part,
    reasonHash: hashId("reason"),
  };
  return [
    ...mates.buyer.map((id) => viewOf("purchase", id)),
    viewOf("programState", newProgram),
    viewOf("programState", elsewhere),
    viewOf("pendingAdmin", elsewhere),
    viewOf("funding", elsewhere, merchantRef),
    viewOf("enrolledAs", elsewhere, fixture.address(actors.merchant)),
    viewOf("hashPurchase", purchase.commitment),
    viewOf("hashPurchase", { ...purchase.commitment, offerDeadline: purchase.commitment.claimDeadline + 1n }),
    viewOf("hashClaim", claim),
    viewOf("hashFunding", authorization),
  ];
}

/** Returns a view with its arguments. */
export function viewOf(view: ViewName, ...args: readonly unknown[]): View {
  return { view, ...encodeView(view, args) };
}

/** A contract that passes on its calldata to the registrar contract by a STATICCALL, and returns or reverts with the answer. */
export const viewCaller: Address = "0x00000000000000000000000000000000000ca11e";

/** Returns the code of that contract. */
export function viewCallerCode(registrar: Address): Hex {
  return concatHex(["0x365f5f375f5f365f73", registrar, "0x5afa3d5f5f3e6029573d5ffd5b3d5ff3"]);
}
