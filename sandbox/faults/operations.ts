import { z } from "zod";
import { validate } from "../../server/http/request/validate.ts";
import { controlOf } from "../lib/control/operation.ts";
import { faultSchema } from "./fault.ts";
import { faultRequestSchema, readFault } from "./fault-request.ts";
import type { SandboxFaults } from "./faults.ts";

const defineControl = controlOf<{ faults: SandboxFaults }>();

const listSchema = z.object({ data: z.array(faultSchema) }).meta({ id: "Faults" });

/** `GET /faults` */
export const listFaults = defineControl({
  id: "listFaults",
  method: "get",
  path: "/faults",
  tag: "Faults",
  summary: "Lists the faults, including those that no longer act.",
  command: { name: "fault list", description: "list the faults, including those that no longer act" },
  success: { status: 200, description: "The faults.", schema: listSchema },
  handle: ({ sandbox }) => ({ data: sandbox.faults.list() }),
});

const setFault = defineControl({
  id: "setFault",
  method: "post",
  path: "/faults",
  tag: "Faults",
  summary: "Sets a fault.",
  description:
    "The body has either `intent`, the name of a common fault, with its options, or `layer` and `action` with, if needed, `point`, `match` and `count`.",
  page: { target: "faults.md", words: "faults" },
  describedBody: faultRequestSchema,
  example: { intent: "answer-lost", operation: "executeRefund" },
  success: { status: 201, description: "The fault.", schema: faultSchema },
  errors: ["fault_invalid", "needs_own_chain"],
  gated: true,
  handle: async ({ sandbox, body }) =>
    await sandbox.faults.add(readFault(body, (schema, value) => validate(schema, value, ""))),
});

/** `DELETE /faults` */
export const clearFaults = defineControl({
  id: "clearFaults",
  method: "delete",
  path: "/faults",
  tag: "Faults",
  summary: "Clears all faults, and resumes mining that a fault has paused.",
  description: "The response is sent when the waiting transactions are mined.",
  command: {
    name: "fault clear",
    description: "clear all faults, and resume mining that a fault has paused",
  },
  success: { status: 200, description: "No faults.", schema: listSchema },
  gated: true,
  async handle({ sandbox: { faults } }) {
    await faults.clear();
    return { data: faults.list() };
  },
});

/** The operations on faults. */
export const faultOperations = [listFaults, setFault, clearFaults];
