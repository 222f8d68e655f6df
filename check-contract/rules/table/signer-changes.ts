import { define, type Variant } from "./table-call.ts";
import { validCalls } from "./valid-calls.ts";

/** The functions that ask for a signature of the commitment signer. */
const signed = ["enroll", "offer", "register"];

/** The calls after a change that is none of their conditions, such as one of the commitment signer for those that take no signature of it: they succeed as before. */
export const signerChanges = define<Variant>(
  () => ({}),
  (
    [
      ["the end of the commitment signer", signed],
      ["another commitment signer", signed],
      ["the loss of the merchant's tokens and allowances", ["collectRefund"]],
      ["a pause of another program", []],
    ] as const
  ).flatMap(([after, others]) =>
    Object.entries(validCalls)
      .filter(([name, call]) => !others.some((other) => other === name) && call.after === undefined)
      .map(([name, { only = "offer, open", offsetAt: _, ...call }]) => ({
        ...call,
        name: `${name} after ${after}`,
        // The loss comes with a payment.
        only: after.startsWith("the loss") ? "offer, open" : only,
        after,
      })),
  ),
);
