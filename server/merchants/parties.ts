import { type Address, zeroAddress } from "viem";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { Deployment } from "../chain/deployment.ts";
import type { FieldError } from "../errors/problem.ts";

/**
 * Finds out whether an address cannot act as a merchant's wallet, a buyer or a beneficiary.
 *
 * @returns null when it can, as far as its address says.
 */
export function findUnable(pointer: string, address: Address, deployment: Deployment): FieldError | null {
  const unable = namesOf(deployment).find(([one]) => sameAddress(one, address));
  if (unable === undefined) return null;
  const detail = `is ${unable[1]}, which cannot act as a party; use the address of an account`;
  return { pointer, code: "cannot_act", detail };
}

/** The addresses of the deployment that no wallet can send from, or only the relayer. */
function namesOf({ token, registrar, fundingSource, programs }: Deployment): [Address, string][] {
  return [
    [zeroAddress, "the zero address"],
    [token.address, "the token contract"],
    [registrar.address, "the registrar contract"],
    [fundingSource.address, "the funding source"],
    ...programs.map(({ id, operator }): [Address, string] => [operator, `the operator of ${id}`]),
  ];
}
