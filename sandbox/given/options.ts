import { types } from "node:util";
import { maxUint128 } from "viem";
import { z } from "zod";
import { secondsOfMilliseconds } from "../../protocol/values/time.ts";
import { check } from "../../server/http/request/validate.ts";
import { mapFields } from "../../server/lib/map-fields.ts";
import { meantName, orList } from "../../server/lib/wording.ts";
import { createMerchantBody } from "../../server/schemas/merchants.ts";
import {
  amountBounds,
  asBaseUnits,
  idSchema,
  type jsonObjectSchema,
  positiveAmountSchema,
  programIdSchema,
  referenceSchema,
  unixTimeSchema,
} from "../../server/schemas/primitives.ts";
import { purchaseTexts } from "../../server/schemas/purchases.ts";
import { fileClaimBody } from "../../server/schemas/refunds.ts";
import { type WalletName, walletNames } from "../chain/genesis/roles.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { findFieldless } from "../lib/option-schemas.ts";
import { errorBelow, GivenInvalidError } from "./given-invalid-error.ts";
import {
  defaultAmount,
  merchantStates,
  type PurchaseState,
  purchaseStates,
  type Route,
  routes,
  statesOf,
} from "./states.ts";

/** The error of one option; a field of an option is named as in `deadlines.pay_deadline`. */
export function invalidOption(
  option: string,
  value: unknown,
  wrong: string,
  todo: string,
): GivenInvalidError {
  const pointer = `/${option.replaceAll(".", "/")}`;
  return new GivenInvalidError([{ pointer, detail: describe(option, value, wrong, todo) }]);
}

function describe(option: string, value: unknown, wrong: string, todo: string): string {
  if (value === undefined) return `${option} is missing. ${todo}`;
  return `${option} ${showValue(value)} ${wrong}. ${todo}`;
}

function named(wrong: string, todo: string) {
  return {
    error: ({ input, path = [] }: { input?: unknown; path?: PropertyKey[] | undefined }) =>
      describe(path.join("."), input, wrong, todo),
  };
}

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, named("is not a valid value", `Use ${orList(values)}.`));
}

/** Takes what a schema takes, with an error of its own; descriptions have its type and bounds. */
function checked<T>(schema: z.ZodType<T>, wrong: string, todo: string, bounds = {}) {
  const meta = { type: "string", ...bounds } as const;
  return z.custom<T>((value) => schema.safeParse(value).success, named(wrong, todo)).meta(meta);
}

/** An object whose every value JSON can carry: it would leave out some, and cannot write others. */
const carriedObject = z.custom<z.infer<typeof jsonObjectSchema>>((value) => {
  try {
    JSON.stringify(value);
  } catch {
    return false;
  }
  return z.record(z.string(), z.json()).safeParse(value).success;
});

/** Takes what a schema of amounts takes; for one that is only too large the error names the largest. */
function amountOf(schema: z.ZodType<string>, wrong: string, example: string, bounds = {}) {
  const isSmall = (value: unknown) =>
    typeof value !== "string" || !/^[0-9]+$/.test(value) || BigInt(value) <= maxUint128;
  return z
    .custom<string>(isSmall, named("is above the largest amount, 2^128 - 1", `Pass at most ${maxUint128}.`))
    .pipe(
      z.custom<string>((value) => schema.safeParse(value).success, {
        error: ({ input, path = [] }) => {
          const meant =
            asBaseUnits(input)?.replace("send", "Pass") ?? `Pass a decimal string such as "${example}"`;
          return describe(path.join("."), input, wrong, `${meant}.`);
        },
      }),
    )
    .meta({
      type: "string",
      description: `Base units of the token, such as "${example}".`,
      ...amountBounds,
      ...bounds,
    });
}

const amount = amountOf(positiveAmountSchema, "is not an amount above zero in base units", defaultAmount, {
  not: { const: "0" },
});
const award = amountOf(positiveAmountSchema.or(z.literal("0")), "is not an amount in base units", "10000000");
const text = (schema: z.ZodString) =>
  checked(
    schema,
    `is not a string of ${schema.minLength} to ${schema.maxLength} characters`,
    "Pass a string of that length.",
    { minLength: schema.minLength, maxLength: schema.maxLength },
  ).optional();
const program = checked(programIdSchema, "is not a program's id", "Pass one such as prg_demo.");
const time = z
  .custom<number>((value) => unixTimeSchema.safeParse(value).success, {
    error: ({ input, path = [] }) => {
      const meant = secondsOfMilliseconds(input);
      const written = secondsOfDate(input);
      const todo =
        meant !== undefined
          ? `These look like milliseconds: pass ${meant}.`
          : written !== undefined
            ? `Pass the number ${written}.`
            : "Pass whole seconds, not milliseconds.";
      return describe(path.join("."), input, "is not a Unix time", todo);
    },
  })
  .meta({ type: "integer" });

/** Returns the Unix time of a date, or of the text of one or of a Unix time; undefined for any other value. */
function secondsOfDate(value: unknown): number | undefined {
  const isNumeric = typeof value === "string" && /^\d+$/.test(value);
  const isDate = types.isDate(value) || (typeof value === "string" && /^\d{4}-/.test(value));
  const seconds = isNumeric
    ? Number(value)
    : isDate
      ? Math.floor(Date.parse(String(value)) / 1_000)
      : undefined;
  return unixTimeSchema.safeParse(seconds).data;
}
const wallet = oneOf(walletNames).meta({ id: "WalletName" });
const merchant = checked(idSchema("mer"), "is not a merchant's id", "Pass a merchant, or its id.");

/** Takes the id of a merchant in its place. */
function idOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "id" in value ? value.id : value;
}

/** A strict object whose errors name the keys that it does not take. */
function options<const S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, {
    error: ({ code, keys, input }) => {
      if (code === "unrecognized_keys" && Array.isArray(keys))
        return `There is no option ${keys.join(", ")}. ${remedyFor(keys, Object.keys(shape))}`;
      return `The options ${showValue(input)} are not an object. Pass one with ${orList(Object.keys(shape))}.`;
    },
  });
}

function remedyFor(unknown: readonly string[], known: readonly string[]): string {
  const meant = unknown.flatMap((name) => meantName(name, known) ?? []);
  return meant.length > 0 ? `Did you mean ${orList(meant)}?` : `Use ${orList(known)}.`;
}

const merchantOptions = options({
  state: oneOf(merchantStates),
  /** The program's id; by default the first program. */
  program: program.optional(),
  /** The wallet that enrolls; by default `merchant`. */
  wallet: wallet.default("merchant"),
  name: text(createMerchantBody.shape.name),
  /** The funding cap in base units; by default 1,000,000 USDC. */
  cap: amount.optional(),
  reference: text(referenceSchema),
});

/** Options of a given merchant. */
export type MerchantOptions = z.input<typeof merchantOptions>;

/** The options of a given merchant, with their defaults. */
export type MerchantPlan = z.output<typeof merchantOptions>;

const purchaseOptions = options({
  state: oneOf(purchaseStates),
  /** The route to the chain: `registrar_offer` (default) or `merchant_direct`. */
  route: oneOf(routes).optional(),
  /** The program's id; by default that of `merchant`, or the first program. */
  program: program.optional(),
  merchant: z.preprocess(idOf, merchant.optional()).meta({ type: "string" }),
  /** The wallet that pays; by default `buyer`. */
  buyer: wallet.default("buyer"),
  /** The wallet that claims and receives the refund; by default `beneficiary`. */
  beneficiary: wallet.default("beneficiary"),
  /** The price; by default 25 USDC. */
  amount: amount.default(defaultAmount),
  /** The amount to pay; by default the whole price, and half of it for `partially_paid`. */
  paid: amount.optional(),
  /** Whether to pay with an EIP-2612 permit in one transaction, which replaces the buyer's allowance; by default false. */
  permit: z.boolean(named("is not a boolean", "Pass true or false.")).optional(),
  /** The amount to claim; by default the paid amount. */
  claimed: amount.optional(),
  /** The reason of the claim. */
  reason: text(fileClaimBody.shape.reason.unwrap()),
  /** The reviewer's award; by default the claimed amount, and 0 for `denied`. */
  award: award.optional(),
  /** The terms, any JSON object. */
  terms: checked(carriedObject, "are not a JSON object", "Pass a plain object of JSON values.", {
    type: "object",
    additionalProperties: {},
  }).optional(),
  ...mapFields(purchaseTexts, text),
  /** Deadlines in Unix seconds; by default those of the API, and for `expired` sooner ones for offer and payment. */
  deadlines: options({
    offer_deadline: time.optional(),
    pay_deadline: time.optional(),
    claim_deadline: time.optional(),
  }).optional(),
});

/** Options of a given purchase; amounts are decimal strings in base units. */
export type PurchaseOptions<S extends PurchaseState = PurchaseState> = Omit<
  z.input<typeof purchaseOptions>,
  "state" | "merchant"
> & {
  state: S;
  /** An enrolled merchant or its id; by default the merchant of the wallet `merchant`, which is created and funded if necessary. */
  merchant?: string | { readonly id: string };
};

/** The options of a given purchase, with their defaults. */
export type PurchasePlan = Omit<z.output<typeof purchaseOptions>, "route" | "paid" | "claimed" | "award"> & {
  route: Route;
  paid: string;
  claimed: string;
  award: string;
};

/**
 * Checks the options of a given merchant and fills in the defaults.
 *
 * @throws GivenInvalidError
 */
export function readMerchantOptions(given: unknown): MerchantPlan {
  return read(merchantOptions, given);
}

/**
 * Checks the options of a given purchase, also against its state and each other, and fills in the defaults.
 *
 * @throws GivenInvalidError
 */
export function readPurchaseOptions(given: unknown): PurchasePlan {
  const known = read(purchaseOptions, given);
  const { state, amount: whole, permit } = known;
  const set = { ...known, permit: permit === true ? true : undefined };
  for (const [option, states] of Object.entries(statesOf)) {
    const value = Object.entries(set).find(([name]) => name === option)?.[1];
    if (value !== undefined && !states.includes(state))
      throw invalidOption(
        option,
        value,
        `does not apply to the state ${state}`,
        `Leave out ${option}, or choose a state that it applies to: ${orList(states)}.`,
      );
  }
  if (known.merchant === undefined) requireOtherThan("merchant", known);
  if (state === "partially_paid" && whole === "1")
    throw invalidOption("amount", whole, "cannot be paid in part", "Pass an amount above 1.");
  const paid = known.paid ?? (state === "partially_paid" ? (BigInt(whole) / 2n).toString() : whole);
  const isPart = BigInt(paid) < BigInt(whole);
  if (state === "partially_paid" && !isPart)
    throw invalidOption(
      "paid",
      paid,
      `is not less than the amount ${whole}`,
      "Pass less, or use the state paid.",
    );
  requireAtMost("paid", paid, "the amount", whole);
  const claimed = known.claimed ?? paid;
  requireAtMost("claimed", claimed, "what is paid,", paid);
  const awarded = known.award ?? (state === "denied" ? "0" : claimed);
  requireAtMost("award", awarded, "what is claimed,", claimed);
  if ((state === "denied") !== (awarded === "0"))
    throw invalidOption(
      "award",
      awarded,
      `does not match the state ${state}`,
      state === "denied" ? 'Pass "0", or leave out award.' : "Pass an award above zero.",
    );
  return { ...known, route: known.route ?? "registrar_offer", paid, claimed, award: awarded };
}

/** Refuses a buyer or a beneficiary whose wallet is the merchant's. @throws GivenInvalidError */
export function requireOtherThan(
  wallet: WalletName | undefined,
  { buyer, beneficiary }: Pick<PurchasePlan, "buyer" | "beneficiary">,
): void {
  const todo = "Pass another wallet, or another merchant.";
  if (buyer === wallet)
    throw invalidOption("buyer", buyer, "is the wallet of the merchant, which cannot pay itself", todo);
  if (beneficiary === wallet)
    throw invalidOption(
      "beneficiary",
      beneficiary,
      "is the wallet of the merchant, which cannot refund itself",
      todo,
    );
}

/** The schema of a request of JSON, for descriptions: {@link readGivenRequest} checks one. */
export const givenRequestSchema: z.ZodType = z
  .union([
    z.strictObject({ merchant: merchantOptions.meta({ id: "MerchantOptions" }) }),
    z.strictObject({ purchase: purchaseOptions.meta({ id: "PurchaseOptions" }) }),
  ])
  .meta({ id: "Give" });

const single = 'The body must have one member, "merchant" or "purchase", with the options of that.';
const anyOptions = z.looseObject({});
const givenRequest = z.union([
  z.strictObject({ merchant: anyOptions }),
  z.strictObject({ purchase: anyOptions }),
]);

/**
 * Reads what a request of JSON asks for, as in `{"purchase":{"state":"paid"}}`.
 *
 * @throws GivenInvalidError whose pointers begin at the request.
 */
export function readGivenRequest(body: unknown): { merchant: MerchantPlan } | { purchase: PurchasePlan } {
  const { data } = givenRequest.safeParse(body);
  if (data === undefined) throw new GivenInvalidError([{ pointer: "", detail: single }]);
  try {
    return "merchant" in data
      ? { merchant: readMerchantOptions(data.merchant) }
      : { purchase: readPurchaseOptions(data.purchase) };
  } catch (error) {
    throw error instanceof GivenInvalidError ? errorBelow(Object.keys(data), error) : error;
  }
}

function requireAtMost(option: string, value: string, limit: string, most: string): void {
  if (BigInt(value) > BigInt(most))
    throw invalidOption(option, value, `is above ${limit} ${most}`, `Pass at most ${most}.`);
}

function read<T>(schema: z.ZodType<T>, given: unknown): T {
  const fieldless = findFieldless(given);
  if (fieldless !== undefined)
    throw invalidOption(
      fieldless.option,
      fieldless.value,
      "has no fields",
      "Pass an object, and await a promise first.",
    );
  const { data, errors } = check(schema, given, "");
  if (errors === null) return data;
  throw new GivenInvalidError(errors.map(({ pointer, detail }) => ({ pointer, detail })));
}
