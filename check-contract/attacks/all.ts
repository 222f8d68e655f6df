import type { Attack } from "../attack.ts";
import { callPathAttacks } from "./call-path.ts";
import { calldataAttacks } from "./calldata.ts";
import { chainAttacks } from "./chain.ts";
import { envelopeAttacks } from "./envelope.ts";
import { logAttacks } from "./logs.ts";
import { changedAnswers, changedReceipts } from "./node-answers.ts";
import { attackWithPermit, permitAttacks } from "./permits.ts";
import { serviceAttacks } from "./service.ts";
import { signatureAttacks } from "./signatures.ts";
import { tokenAttacks } from "./token.ts";

/** Every attack, in the order of docs/check-contract.md. */
export const attacks: readonly Attack[] = [
  ...envelopeAttacks,
  ...callPathAttacks,
  ...calldataAttacks,
  ...logAttacks,
  ...changedReceipts,
  ...changedAnswers,
  ...chainAttacks,
  ...tokenAttacks,
  ...signatureAttacks,
  ...serviceAttacks,
  ...permitAttacks,
];

/** Every attack on a payment once more, on payments under a permit. */
export const attacksWithPermit: readonly Attack[] = attacks
  .filter(({ pays }) => pays === undefined)
  .map(attackWithPermit);
