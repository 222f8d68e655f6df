import { getAddress, isAddress } from "viem";
import { z } from "zod";
import {
  amountDigits,
  amountPattern,
  isAmount,
  maxAmount,
  usdcDecimals,
} from "../../protocol/values/amount.ts";
import type { IdPrefix } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { secondsOfMilliseconds } from "../../protocol/values/time.ts";
import { mapFields } from "../lib/map-fields.ts";
import { textLengths } from "../limits.ts";
import { requireThat } from "./describe-issue.ts";

/** The chain id in the examples of the API's description: that of the sandbox's own chain. */
export const exampleChainId = 31_337;

/** The chain RPC in examples: that of a `start` with its default port. */
export const exampleRpcUrl = "http://127.0.0.1:8545";

/** Marks a list of values that answers may add to, for the API description. */
export const openEnumMark = "x-open-enum";

/** One of the codes of an answer. Clients must take others too: a later version adds some. */
export function openEnum<const T extends readonly string[]>(codes: T) {
  return z.enum(codes).meta({ [openEnumMark]: true });
}

/** The error of a schema for a value of another type, which names the expected value instead of a type. */
function wanting(wanted: string) {
  return {
    error: ({ code, input }: z.core.$ZodRawIssue) =>
      code === "invalid_type" ? requireThat(wanted, input) : undefined,
  };
}

/** Returns the pattern of decimal strings without leading zeros up to a largest number. It shares the digits that are equal, so that it is short. */
function decimalsUpTo(largest: bigint): string {
  const digits = [...String(largest)].map(Number);
  const endingAt = (place: number): string => {
    const digit = digits[place];
    if (digit === undefined) return "";
    const least = place === 0 ? 1 : 0;
    const same = `${digit}${endingAt(place + 1)}`;
    // The digits after a smaller one are free.
    return digit > least ? `([${least}-${digit - 1}]\\d{${digits.length - place - 1}}|${same})` : same;
  };
  return `^(0|[1-9]\\d{0,${digits.length - 2}}|${endingAt(0)})$`;
}

/** A number with its unit, as in `$25`, `25 USDC` and `USDC 25.00`. */
const withUnit = /^(?:\$|USDC?)\s*(?<after>\S+)$|^(?<before>[\d.,]+)\s*USDC?$/i;

/** Numbers with a point or a comma before the fraction. A comma before three digits may also separate thousands, as in `25,000`. */
const decimals = [
  /^(?<whole>0|[1-9]\d*)(?:\.(?<fraction>\d*))?$/,
  /^(?<whole>)\.(?<fraction>\d+)$/,
  /^(?<whole>[1-9]\d{0,2}(?:,\d{3})+)\.(?<fraction>\d+)$/,
  /^(?<whole>[1-9]\d{0,2}(?:\.\d{3})+),(?<fraction>\d+)$/,
  /^(?<whole>0|[1-9]\d*),(?<fraction>(?!\d{3}$)\d+)$/,
];

/**
 * Says what to send for an amount that was written otherwise than in base units; undefined where its meaning is not certain.
 *
 * @example asBaseUnits("25.00") // 'send "25000000" for 25.00 USDC'
 */
export function asBaseUnits(input: unknown): string | undefined {
  const text = String(input).trim();
  const { after, before } = withUnit.exec(text)?.groups ?? {};
  const named = after ?? before;
  const number = decimals.map((pattern) => pattern.exec(named ?? text)?.groups).find(Boolean);
  const digits = number?.["whole"]?.replaceAll(/[.,]/g, "");
  if (digits === undefined) return undefined;
  const fraction = number?.["fraction"]?.replace(/0+$/, "");
  if (named === undefined && fraction === undefined)
    return typeof input === "string" && text !== input && isAmount(text)
      ? `send "${text}", without spaces`
      : undefined;
  const units = `${BigInt(digits + (fraction ?? "").padEnd(usdcDecimals, "0"))}`;
  if ((fraction ?? "").length > usdcDecimals || !isAmount(units) || units === "0") return undefined;
  return `send "${units}" for ${digits || 0}.${(fraction ?? "").padEnd(2, "0")} USDC`;
}

function amountText() {
  return z
    .string(wanting('a decimal string of base units, such as "25000000"'))
    .regex(amountPattern, {
      error: ({ input }) => {
        const meant = asBaseUnits(input);
        return `must be a decimal string of base units with at most ${amountDigits} digits and without sign or leading zeros${meant === undefined ? "" : ` (${meant})`}`;
      },
      abort: true,
    })
    .refine(isAmount, "must be at most 2^128 - 1");
}

/** The bounds of an amount in base units, for descriptions. */
export const amountBounds = { pattern: decimalsUpTo(maxAmount) };

/** An amount in base units of the token, as a decimal string. */
export const amountSchema = amountText().meta({
  id: "Amount",
  description: "Base units of the token (6 decimals), as a decimal string; at most 2^128 - 1.",
  example: "25000000",
  ...amountBounds,
});

/** An amount that only the token bounds, such as an allowance without a limit. */
export const tokenAmountSchema = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/)
  .meta({
    id: "TokenAmount",
    description: "Base units of the token (6 decimals), as a decimal string; at most 2^256 - 1.",
    example: "25000000",
  });

/** An amount above zero. */
export const positiveAmountSchema = amountText()
  .refine((amount) => amount !== "0", "must be above zero")
  .meta({
    id: "PositiveAmount",
    description: "Base units of the token, above zero.",
    example: "25000000",
    pattern: "^[1-9]",
    allOf: [{ $ref: "#/components/schemas/Amount" }],
  });

/** An account address: checksummed (EIP-55) or all lower case in, checksummed out. */
export const addressSchema = z
  .string(wanting("an address: a string of 0x and 40 hexadecimal characters"))
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: "must be 0x and 40 hexadecimal characters", abort: true })
  .refine(
    (text) => text === text.toLowerCase() || isAddress(text),
    "must be all lower case or have the right EIP-55 checksum",
  )
  .transform((text) => getAddress(text))
  .meta({
    description: "An address, checksummed by EIP-55 or all lower case.",
    example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  });

/** An address as the service shows it. */
export const checksumAddressSchema = z.templateLiteral(["0x", z.string().regex(/^[0-9a-fA-F]{40}$/)]).meta({
  id: "Address",
  description: "An address, checksummed by EIP-55.",
  example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
});

/** 32 bytes: lower-case 0x and 64 hexadecimal characters. */
export const hashSchema = z
  .templateLiteral(["0x", z.string().regex(/^[0-9a-f]{64}$/)], {
    error: "must be 0x and 64 lower-case hexadecimal characters",
  })
  .meta({
    id: "Hash",
    description: "32 bytes: 0x and 64 lower-case hexadecimal characters.",
    example: `0x${"5c".repeat(32)}`,
  });

/** Bytes of any length as lower- or upper-case hex with 0x. */
export const bytesSchema = z
  .templateLiteral(["0x", z.string().regex(/^([0-9a-fA-F]{2})*$/)])
  .meta({ id: "Bytes", description: "Bytes as hexadecimal with 0x.", example: "0x095ea7b3" });

/** The most bytes of a wallet's signature, so that contract wallets (ERC-1271) have room. */
const signatureBytes = 4_096;

/** A signature by a wallet. */
export const signatureSchema = z
  .templateLiteral(["0x", z.string().regex(new RegExp(`^([0-9a-fA-F]{2}){1,${signatureBytes}}$`))], {
    error: `must be 0x and 1 to ${signatureBytes} bytes in hexadecimal`,
  })
  .meta({
    id: "Signature",
    description: "A wallet's signature (EOA or ERC-1271) as hexadecimal.",
    example: `0x${"ab".repeat(65)}`,
  });

/** A time as RFC 3339 in UTC. */
export const timestampSchema = z
  .string(wanting('RFC 3339 in UTC, such as "2026-01-01T00:00:00Z"'))
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/, {
    error: "must be RFC 3339 in UTC, such as 2026-01-01T00:00:00Z",
    abort: true,
  })
  .refine(isDate, "must be a date of the calendar")
  .meta({
    id: "Timestamp",
    description: "RFC 3339, UTC, without leap seconds.",
    example: "2026-01-01T00:00:00Z",
    format: "date-time",
    // The days of each month are the format's.
    pattern: "^\\d{4}-\\d{2}-\\d{2}T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?Z$",
  });

/** The last second of the year 9999. */
const lastSecond = 253_402_300_799;

/** A second on chain. */
export const unixTimeSchema = z
  .int(wanting("Unix seconds, such as 1767830400"))
  .min(0)
  .max(lastSecond, {
    error: ({ input }) => {
      const meant = secondsOfMilliseconds(input);
      return meant === undefined
        ? `must be at most ${lastSecond}`
        : `must be Unix seconds; these look like milliseconds: send ${meant}`;
    },
  })
  .meta({ id: "UnixTime", description: "Unix time in seconds.", example: 1_767_830_400 });

/** Any JSON value; what a body was parsed into is nothing else. */
export const jsonSchema = z
  .custom<Json>((value) => value !== undefined)
  .meta({ id: "Json", description: "Any JSON value." });

/** Any JSON object. */
export const jsonObjectSchema = z
  .record(z.string(), jsonSchema)
  .meta({ id: "JsonObject", description: "Any JSON object." });

/** Wei, as a decimal string. */
export const weiSchema = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/)
  .meta({ id: "Wei", description: "Wei, as a decimal string.", example: "21000000000000" });

/** The name of each kind of identifier. */
const idNames = {
  crd: "CredentialId",
  mer: "MerchantId",
  pur: "PurchaseId",
  clm: "ClaimId",
  dec: "DecisionId",
  ref: "RefundId",
  op: "OperationId",
  evt: "EventId",
  ntf: "NotificationId",
  rcp: "ReceiptId",
  req: "RequestId",
} as const satisfies { [P in IdPrefix]: string };

const idSchemas = mapFields(idNames, (id, prefix) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[a-z2-7]{20}$`), `must be ${prefix}_ and 20 lower-case base32 characters`)
    .meta({ id, example: `${prefix}_abcdefghij234567abcd` }),
);

/** An identifier of one kind. */
export function idSchema(prefix: IdPrefix) {
  return idSchemas[prefix];
}

/** The most characters of a program's id after `prg_`. */
export const programNameLength = 40;

/** The name of a program, given by configuration. */
export const programIdSchema = z
  .string()
  .regex(new RegExp(`^prg_[a-z0-9_]{1,${programNameLength}}$`))
  .meta({ id: "ProgramId", description: "A program's name.", example: "prg_demo" });

/** A reference of the integrator's own. */
export const referenceSchema = z.string().min(1).max(textLengths.reference).meta({
  description: "Your own reference, returned unchanged.",
  example: "order-1001",
});

/** Date.parse takes February 30 for March 2. */
function isDate(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 19) === text.slice(0, 19);
}
