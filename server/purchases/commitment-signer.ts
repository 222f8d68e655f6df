import { Problem } from "../errors/problem.ts";
import type { CommitmentSigner, Services } from "../services.ts";

/** The key that signs a program's commitments and funding authorizations. */
export function commitmentSigner(program: string, services: Services): CommitmentSigner {
  const signer = services.keys.commitmentSigners.get(program);
  if (signer === undefined) throw new Problem("not_found", `There is no program ${program}.`);
  return signer;
}
