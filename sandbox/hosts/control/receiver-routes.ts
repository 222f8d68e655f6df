import { Router } from "express";
import { z } from "zod";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { type KeyUse, keyUses } from "../../../server/keys/key-use.ts";
import { type DeliveryFault, deliveryFaultSchema } from "../../service/receiver/delivery-fault.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import { gatedBy } from "./gated.ts";
import { refuse } from "./refuse-error.ts";

const count = z.int().min(1).max(1_000).default(1);

const [answer, delay, drop, crash] = deliveryFaultSchema.options;
const failBody = z.union(
  [
    answer.extend({ count }),
    z.strictObject({ count, delay_ms: delay.shape.delayMs }),
    drop.extend({ count }),
    crash.extend({ count }),
  ],
  { error: "must have one of status, delay_ms, drop and crash" },
);
const pinBody = z.strictObject({ url: z.string() });
const resendBody = z.strictObject({ number: z.int().min(1) });
const rotateBody = z.strictObject({
  uses: z
    .array(z.enum(keyUses))
    .min(1)
    .default([...keyUses]),
});

/** The part of the control API that is about deliveries: what arrived, what shall fail, and the keys that sign. */
export function receiverRoutes(sandbox: {
  receiver: SandboxReceiver;
  rotateKeys: (...uses: KeyUse[]) => Promise<void>;
  gate: Gate;
}): Router {
  const { receiver, rotateKeys, gate } = sandbox;
  const gated = gatedBy(gate);
  const router = Router();
  router.get("/receiver/deliveries", (_request, response) => {
    response.json({ url: receiver.url, data: receiver.deliveries() });
  });
  router.post(
    "/receiver/pin",
    gated(async (request, response) => {
      const { url } = validate(pinBody, request.body, "");
      await receiver.pin(url);
      response.json({ url: receiver.url });
    }),
  );
  // It changes nothing itself: the receiver's own request runs inside the gate.
  router.post("/receiver/resend", async (request, response) => {
    const { number } = validate(resendBody, request.body, "");
    const found = receiver.deliveries().find((one) => one.number === number);
    if (found === undefined) refuse(response, 404, `No delivery ${number} has arrived.`);
    else response.json(await receiver.resend(found));
  });
  router.get("/receiver/failures", (_request, response) => {
    response.json({ data: receiver.faults.list() });
  });
  router.post(
    "/receiver/failures",
    gated((request, response) => {
      const body = validate(failBody, request.body, "");
      receiver.failNext(body.count, toFault(body));
      response.status(201).json({ data: receiver.faults.list() });
    }),
  );
  router.delete(
    "/receiver/failures",
    gated((_request, response) => {
      receiver.clearFailures();
      response.json({ data: receiver.faults.list() });
    }),
  );
  router.post(
    "/keys/rotate",
    gated(async (request, response) => {
      const { uses } = validate(rotateBody, request.body ?? {}, "");
      await rotateKeys(...uses);
      response.json({ rotated: uses });
    }),
  );
  return router;
}

function toFault({ count: _, ...fault }: z.output<typeof failBody>): DeliveryFault {
  return "delay_ms" in fault ? { delayMs: fault.delay_ms } : fault;
}
