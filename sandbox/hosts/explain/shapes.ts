import { type Address, type Hex, isAddress, isHex } from "viem";
import { z } from "zod";
import type { Json } from "../../../protocol/values/json.ts";

/** An address in any case of its digits. */
export const addressShape = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value, { strict: false }),
  "is no address",
);

/** 32 bytes. */
export const hashShape = z.custom<Hex>((value) => isHex(value) && value.length === 66, "is no hash");

/** Any JSON value. */
export const jsonShape = z.custom<Json>((value) => value !== undefined, "is missing");
