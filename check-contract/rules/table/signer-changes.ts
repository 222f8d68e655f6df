import { define, type Variant } from "./table-call.ts";
import { validCalls } from "./valid-calls.ts";

/** The functions that ask for a signature of the commitment signer. */
const signed = ["enroll", "offer", "register"];

/** The calls after the commitment signer has changed: those that take no signature of it succeed as before. */
export const signerChanges = define<Variant>(
  () => ({}),
  (["the end of the commitment signer", "another commitment signer"] as const).flatMap((after) =>
    Object.entries(validCalls)
      .filter(([name, call]) => !signed.includes(name) && call.after === undefined)
      .map(([name, { only = "offer, open", offsetAt: _, ...call }]) => ({
        ...call,
        name: `${name} after ${after}`,
        only,
        after,
      })),
  ),
);
