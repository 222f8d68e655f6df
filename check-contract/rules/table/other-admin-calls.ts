import { setPaused, specialAdminCalls } from "./program-calls.ts";
import { define, type Variant } from "./table-call.ts";
import { validCalls } from "./valid-calls.ts";

/** The functions that only the admin calls. */
const ofAdmin = ["setBounds", "setPaused", "transferAdmin"];

/** Who is not the admin: the wallet that is named, before it has accepted, and the former admin after that. */
export const formerAdminCalls = define<Variant>(
  () => ({ WrongCaller: true }),
  [
    ...Object.entries(validCalls).flatMap(([name, { call }]) =>
      ofAdmin.includes(name) ? [{ name, call }] : [],
    ),
    { name: "setPaused false", call: setPaused(false).call },
    ...specialAdminCalls,
  ].flatMap(({ name, call }) => [
    {
      call,
      by: "stranger" as const,
      name: `${name} by the named admin`,
      only: "offer, open" as const,
      after: "a transfer of the admin" as const,
    },
    {
      call,
      by: "admin" as const,
      name: `${name} by the former admin`,
      only: "offer, open" as const,
      after: "the acceptance of another admin" as const,
    },
  ]),
);

/** A valid call of each function while the admin has named another one, and after that one has accepted: both change nothing but who the admin is. */
export const otherAdminCalls = define<Variant>(
  () => ({}),
  Object.entries(validCalls).flatMap(([name, { by, call, only = "offer, open", second, after }]) => {
    if (after !== undefined) return [];
    const variant = { only, call, ...(second === undefined ? {} : { second }) };
    return [
      {
        ...variant,
        by,
        name: `${name} while another admin is named`,
        after: "a transfer of the admin" as const,
      },
      {
        ...variant,
        by: ofAdmin.includes(name) ? ("stranger" as const) : by,
        name: `${name} under a new admin`,
        after: "the acceptance of another admin" as const,
      },
    ];
  }),
);
