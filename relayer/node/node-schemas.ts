import { type Address, type Hex, isAddress, isHex } from "viem";
import { z } from "zod";

/** Bytes or a number as nodes answer them. */
export const hexSchema = z.custom<Hex>((value) => isHex(value));

/** An address as nodes answer it: in any case of its digits, most often all lower. */
export const nodeAddressSchema = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value, { strict: false }),
);
