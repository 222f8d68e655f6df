import { defineOperation } from "../http/operation.ts";
import { programSchema } from "../schemas/program.ts";
import { viewProgram } from "../views/program.ts";

/** Operation 3: the scoped program with its pinned contracts and keys. */
export const readProgram = defineOperation({
  number: 3,
  id: "readProgram",
  method: "get",
  path: "/v1/routing/programs/{program}",
  summary: "Read the program",
  description: "Returns the scoped program and the public contract and key metadata that it is pinned to.",
  authorization: { kind: "scope", scope: "records:read" },
  idempotent: false,
  effect: false,
  responses: { 200: { description: "The program.", schema: programSchema } },
  errors: [],
  events: [],
  async handle({ services, program }) {
    const { keyRing } = services;
    const { current } = await keyRing.notifications();
    const keys = { reviewer: await keyRing.reviewer(program.id), notifications: current.key };
    return { kind: "read", status: 200, body: viewProgram(program, keys, services) };
  },
});
