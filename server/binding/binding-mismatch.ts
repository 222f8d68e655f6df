import type { CheckName } from "../../protocol/binding/check-binding.ts";
import type { Json } from "../../protocol/values/json.ts";
import { Problem } from "../errors/problem.ts";

/** Makes the refusal by one failed check, for what is compared without a transaction to check. */
export function bindingMismatch(
  detail: string,
  check: { name: CheckName; expected: Json; actual: Json },
): Problem {
  const binding = { accepted: false, checks: [{ ...check, ok: false }] };
  return new Problem("binding_mismatch", detail, { members: { binding } });
}
