import { Router } from "express";
import { z } from "zod";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { type KeyUse, keyUses } from "../../../server/keys/key-use.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import { gatedBy } from "./gated.ts";
import { refuse } from "./refuse-error.ts";

const pinBody = z.strictObject({ url: z.string() });
const resendBody = z.strictObject({ number: z.int().min(1) });
const rotateBody = z.strictObject({
  uses: z
    .array(z.enum(keyUses))
    .min(1)
    .default([...keyUses]),
});

/** The part of the control API that is about deliveries: what arrived, and the keys that sign. */
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
