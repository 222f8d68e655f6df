import { type ErrorCode, errorCatalogue } from "../../../server/errors/catalogue.ts";

/** The codes of refusals that only a pool has, with their status and title. */
const ownCodes = {
  pool_exhausted: [503, "No sandbox became free in time"],
  sandbox_unavailable: [503, "The sandbox could be neither reset nor replaced"],
} as const;

/** A code of a refusal of a pool: one of the routing API's, or one of its own. */
export type PoolCode = ErrorCode | keyof typeof ownCodes;

/** The status and the title of a code. */
export function describePoolCode(code: PoolCode): { status: number; title: string } {
  if (!isOwn(code)) return errorCatalogue[code];
  const [status, title] = ownCodes[code];
  return { status, title };
}

function isOwn(code: PoolCode): code is keyof typeof ownCodes {
  return code in ownCodes;
}
