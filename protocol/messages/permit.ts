import { type Address, type Hex, hashTypedData, hexToNumber, isHex, size, slice } from "viem";

/** EIP-712 type of an EIP-2612 permit. */
export const permitTypes = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** Approves a spender for `value` base units of a token when it is submitted to the token (EIP-2612). */
export interface Permit {
  owner: Address;
  spender: Address;
  value: bigint;
  /** The number of the owner's permits that the token has accepted so far. */
  nonce: bigint;
  /** The last second in which the token accepts it, in Unix seconds. */
  deadline: bigint;
}

/** The EIP-712 domain of a token: permits are valid for one token on one chain. */
export interface TokenDomain {
  name: "USDC";
  version: "2";
  chainId: number;
  verifyingContract: Address;
}

/** A permit in the form of `payWithPermit`: its deadline and its signature in three parts. */
export interface SignedPermit {
  deadline: bigint;
  v: number;
  r: Hex;
  s: Hex;
}

/**
 * Returns the EIP-712 domain of the token.
 *
 * @example tokenDomain(31337, "0x5FbDB2315678afecb367f032d93F642f64180aa3")
 */
export function tokenDomain(chainId: number, token: Address): TokenDomain {
  return { name: "USDC", version: "2", chainId, verifyingContract: token };
}

/**
 * Returns the typed data that the owner of the tokens signs (EIP-712).
 *
 * @example await account.signTypedData(permitTypedData(domain, permit))
 */
export function permitTypedData(domain: TokenDomain, message: Permit) {
  return { domain, types: permitTypes, primaryType: "Permit", message } as const;
}

/**
 * Returns the EIP-712 digest of a permit.
 *
 * @example hashPermit(tokenDomain(chainId, token), permit)
 */
export function hashPermit(domain: TokenDomain, permit: Permit): Hex {
  return hashTypedData(permitTypedData(domain, permit));
}

/**
 * Returns a permit's deadline with its signature in three parts.
 *
 * @throws TypeError for anything but 65 bytes: r, s and v.
 * @example payWithPermitCall(registrar, id, amount, signedPermit(deadline, signature))
 */
export function signedPermit(deadline: bigint, signature: Hex): SignedPermit {
  if (!isHex(signature) || size(signature) !== 65)
    throw new TypeError(
      "The signature of a permit is 65 bytes: r, s and v. Sign with an account that has a key.",
    );
  const [r, s, v] = [slice(signature, 0, 32), slice(signature, 32, 64), slice(signature, 64, 65)];
  return { deadline, v: hexToNumber(v), r, s };
}
