import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";
import type { Finding } from "../../../server/api/errors/problem.ts";
import { check } from "../../../server/http/request/validate.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";

/** The points where the sandbox's process can die while it delivers. */
export const crashPoints = [
  /** The attempt is recorded, nothing is sent. */
  "before_delivery",
  /** The receiver has answered, the outcome is not recorded. */
  "after_delivery",
  /** The outcome is recorded, the next attempt is not. */
  "before_pause",
] as const;

/** A point where the sandbox's process can die while it delivers. */
export type CrashPoint = (typeof crashPoints)[number];

/** Headers that HTTP can carry: refused when the fault is set, not when the answer is written. */
const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      context.addIssue({
        code: "custom",
        path: [name],
        message: error instanceof Error ? error.message : String(error),
      });
    }
  }
});

/** The schema of a fault of a receiver's answer. */
export const receiverFaultSchema = z.union([
  z.strictObject({
    /** The status that the receiver answers instead of taking the event: anything but a success. */
    status: z.int().min(300).max(599),
    headers: headersSchema.optional(),
    body: z.string().optional(),
  }),
  /** The time that the receiver waits before it takes the event, in real milliseconds. */
  z.strictObject({ delayMs: z.int().min(1).max(60_000) }),
  /** The connection is dropped without an answer. */
  z.strictObject({ drop: z.literal(true) }),
]);

/** The schema of a delivery's fault: at the receiver, or because the sandbox's own process dies (SIGKILL). */
export const deliveryFaultSchema = z.union(
  [...receiverFaultSchema.options, z.strictObject({ crash: z.enum(crashPoints) })],
  { error: "must be one of { status }, { delayMs }, { drop: true } and { crash }" },
);

/** A fault of a receiver's answer. */
export type ReceiverFault = z.infer<typeof receiverFaultSchema>;

/** A fault of a delivery. */
export type DeliveryFault = z.infer<typeof deliveryFaultSchema>;

/** A fault that is set, and how often it will still act. */
export interface PendingFault {
  remaining: number;
  fault: DeliveryFault;
}

/** The faults of deliveries, in the order in which they act. */
export class DeliveryFaults {
  #pending: PendingFault[] = [];

  /** @throws SandboxError argument_invalid for a wrong count, and for what is not a fault. */
  add(count: number, fault: DeliveryFault): void {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new SandboxError("argument_invalid", `Deliveries fail a whole number of times, not ${count}.`);
    const { data, findings } = check(deliveryFaultSchema, fault, "");
    if (findings !== null) throw notAFault(findings);
    this.#pending.push({ remaining: count, fault: data });
  }

  /** Returns the faults that will still act. */
  list(): PendingFault[] {
    return structuredClone(this.#pending);
  }

  /** Puts back what `list` gave; nothing to take all away. */
  replace(pending: readonly PendingFault[]): void {
    this.#pending = structuredClone([...pending]);
  }

  /** Counts one hit of the next fault that acts at a receiver. */
  takeAtReceiver(): ReceiverFault | null {
    const { data } = receiverFaultSchema.safeParse(this.#take((fault) => !("crash" in fault)));
    return data ?? null;
  }

  /** Counts one hit of the next fault that acts at a point of the sandbox's own process. */
  takeCrash(point: CrashPoint): boolean {
    return this.#take((fault) => "crash" in fault && fault.crash === point) !== null;
  }

  #take(matches: (fault: DeliveryFault) => boolean): DeliveryFault | null {
    const found = this.#pending.find(({ fault }) => matches(fault));
    if (found === undefined) return null;
    found.remaining -= 1;
    if (found.remaining === 0) this.#pending = this.#pending.filter((one) => one !== found);
    return found.fault;
  }
}

function notAFault(findings: readonly Finding[]): SandboxError {
  const wrong = findings.map(({ pointer, detail }) => `${pointer.slice(1).replaceAll("/", ".")} ${detail}`);
  return new SandboxError("argument_invalid", `A delivery fault is wrong: ${wrong.join("; ").trim()}.`);
}
