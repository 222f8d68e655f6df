import type { Address, Hex } from "viem";
import type { Call } from "../protocol/call.ts";
import type { RelayOperationKind } from "./journal/relay-operation-kind.ts";

/** One call that a program wants on chain, once. */
export interface RelayIntent {
  program: string;
  kind: RelayOperationKind;
  /** The object that the API shows the operation under. */
  subject: { type: "purchase" | "refund"; id: string };
  /** The key of the effect that must happen once: the commitment hash of an offer, the decision hash of a refund. */
  businessKey: Hex;
  call: Call;
  /** The program operator's account; the relayer must hold its key. */
  signer: Address;
}
