import { hashId } from "../../protocol/values/id.ts";
import { defineOperation } from "../http/operation.ts";
import { programSchema } from "../schemas/programs.ts";
import { viewProgram } from "./views.ts";

/** `GET …/programs/{program}`: the scoped program with its pinned contracts and keys. */
export const readProgram = defineOperation({
  number: 3,
  id: "readProgram",
  method: "get",
  path: "/v1/routing/programs/{program}",
  summary: "Read the program",
  description:
    "Returns the program with its contracts and public keys. " +
    "Operator, commitment signer and bounds are as they are on the chain now. " +
    "If the commitment signer differs from the `commitment.signer` of a purchase, the contract refuses that " +
    "purchase's signature.",
  authorization: { kind: "scope", scope: "records:read" },
  idempotent: false,
  effect: false,
  responses: { 200: { description: "The program.", schema: programSchema } },
  errors: [],
  events: [],
  async handle({ services, program }) {
    const { keyRing, chain } = services;
    const [onChain, reviewer, { current }] = await Promise.all([
      chain.program(hashId(program.id)),
      keyRing.reviewer(program.id),
      keyRing.notifications(),
    ]);
    const keys = { reviewer, notifications: current.key };
    return { kind: "read", status: 200, body: viewProgram(program, onChain, keys, services) };
  },
});
