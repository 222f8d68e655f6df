import { z } from "zod";
import { Problem } from "../../server/errors/problem.ts";
import { redact } from "../../server/http/redact.ts";
import type { KeyUse } from "../../server/keys/key-ring.ts";
import { keyUses } from "../../server/keys/key-ring.ts";
import { controlOf } from "../lib/control/operation.ts";
import type { UndoableCalls } from "../lib/control/undoable-calls.ts";
import { arrivalSchema } from "./arrival.ts";
import type { SandboxReceiver } from "./receiver.ts";
import { keptArrivals } from "./receiver.ts";

const defineControl = controlOf<{
  receiver: SandboxReceiver;
  rotateKeys: (...uses: KeyUse[]) => Promise<void>;
  calls: UndoableCalls;
}>();

const url = z.string().meta({ description: "The URL of the receiver." });
const usesSchema = z.array(z.enum(keyUses)).min(1);
const pinBody = z.strictObject({ url }).meta({ id: "Pin" });
const resendBody = z
  .strictObject({ number: z.int().min(1).optional(), event_id: z.string().optional() })
  .refine(({ number, event_id }) => (number === undefined) !== (event_id === undefined), {
    error: 'must be {"number": …} or {"event_id": …}',
  })
  .meta({ id: "Resend", oneOf: [{ required: ["number"] }, { required: ["event_id"] }] });
const rotateBody = z
  .strictObject({
    uses: usesSchema.default([...keyUses]).meta({ description: "Which keys, by default all of them." }),
  })
  .meta({ id: "Rotate" });

const listDeliveries = defineControl({
  id: "listDeliveries",
  method: "get",
  path: "/receiver/deliveries",
  tag: "Receiver",
  summary: `Lists the last ${keptArrivals.toLocaleString("en-US")} deliveries that arrived at the test receiver.`,
  success: {
    status: 200,
    description: "The deliveries, the oldest first.",
    schema: z.object({ url, data: z.array(arrivalSchema) }).meta({ id: "Deliveries" }),
  },
  // A client may have sent any text that does not verify, also a credential; one that does must stay as it is signed.
  handle: ({ sandbox: { receiver } }) => ({
    url: receiver.url,
    data: receiver
      .deliveries()
      .map((arrival) => (arrival.verified ? arrival : { ...arrival, body: redact(arrival.body) })),
  }),
});

const pinReceiver = defineControl({
  id: "pinReceiver",
  method: "post",
  path: "/receiver/pin",
  tag: "Receiver",
  summary: "Pins your own receiver, which gets notifications from now on.",
  page: { target: "notifications.md#the-pinned-receiver", words: "the pinned receiver" },
  body: pinBody,
  example: { url: "http://127.0.0.1:8080/webhooks" },
  success: {
    status: 200,
    description: "The pinned receiver.",
    schema: z.object({ url }).meta({ id: "PinnedReceiver" }),
  },
  errors: ["receiver_invalid", "receiver_unresolved", "receiver_pinned"],
  gated: true,
  async handle({ sandbox: { receiver }, body }) {
    await receiver.pin(body.url);
    return { url: receiver.url };
  },
});

const resend = defineControl({
  id: "resend",
  method: "post",
  path: "/receiver/resend",
  tag: "Receiver",
  summary: "Sends a duplicate.",
  description:
    "With the `number` of a delivery (`GET /receiver/deliveries`), it goes to the test receiver; with an `event_id`, to the pinned receiver.",
  page: { target: "notifications.md#wait-for-deliveries-in-a-test", words: "notifications" },
  body: resendBody,
  example: { number: 1 },
  success: {
    status: 200,
    description: "The response of the receiver.",
    schema: z.object({ status: z.int().nullable(), body: z.string() }).meta({ id: "ReceiverAnswer" }),
  },
  errors: ["not_found", "argument_invalid"],
  // It changes nothing itself: the receiver's own request runs inside the gate. A restore waits for it, as it must not arrive afterwards.
  handle: async ({ sandbox: { receiver, calls }, body: { number, event_id } }) =>
    await calls.run(async () => {
      if (event_id !== undefined) return await receiver.resend(event_id);
      const found = receiver.deliveries().find((one) => one.number === number);
      if (found === undefined)
        throw new Problem(
          "not_found",
          `No delivery ${number} has arrived. GET /receiver/deliveries lists those that have.`,
        );
      return await receiver.resend(found);
    }),
});

/** `POST /keys/rotate` */
export const rotateKeys = defineControl({
  id: "rotateKeys",
  method: "post",
  path: "/keys/rotate",
  tag: "Receiver",
  summary: "Replaces signing keys: those for `uses`, or all of them.",
  page: { target: "notifications.md#key-rotation", words: "rotation" },
  command: {
    name: "keys rotate",
    description: "rotate signing keys; the old public keys remain published",
    argument: "uses",
  },
  body: rotateBody,
  example: { uses: ["notifications"] },
  success: {
    status: 200,
    description: "The uses of the replaced keys.",
    schema: z.object({ rotated: usesSchema }).meta({ id: "Rotated" }),
  },
  gated: true,
  async handle({ sandbox, body: { uses } }) {
    await sandbox.rotateKeys(...uses);
    return { rotated: uses };
  },
});

/** The operations on deliveries: what arrived, and the keys that sign. */
export const receiverOperations = [listDeliveries, pinReceiver, resend, rotateKeys];
