import type { Scene } from "../scene.ts";
import { setPaused, specialAdminCalls } from "./program-calls.ts";
import { define, type Variant } from "./table-call.ts";
import { validCalls } from "./valid-calls.ts";

/** The functions that only the admin calls. */
const ofAdmin = ["setBounds", "setPaused", "transferAdmin"];

/** The calls that only the admin makes. */
const adminOnly = [
  ...Object.entries(validCalls).flatMap(([name, { call }]) =>
    ofAdmin.includes(name) ? [{ name, call: (scene: Scene) => call(scene) }] : [],
  ),
  { name: "setPaused false", call: setPaused(false).call },
  ...specialAdminCalls,
];

/** Who is not the admin: the wallet that is named, before it has accepted, and the former admin after that. */
export const formerAdminCalls = define<Variant>(
  () => ({ WrongCaller: true }),
  [
    ...adminOnly.map(({ name, call }) => ({ name, call, only: "offer, open" as const })),
    // Nor is the wallet that is named any other one.
    ...Object.entries(validCalls).flatMap(([name, { by, call, only = "offer, open", second }]) =>
      by === "stranger" || ofAdmin.includes(name)
        ? []
        : [{ name, call: (scene: Scene) => call(scene, "stranger"), only, ...(second && { second }) }],
    ),
  ]
    .map(
      (variant): Variant => ({
        ...variant,
        by: "stranger",
        name: `${variant.name} by the named admin`,
        after: "a transfer of the admin",
      }),
    )
    .concat(
      adminOnly.map(({ name, call }) => ({
        call,
        by: "admin",
        name: `${name} by the former admin`,
        only: "offer, open",
        after: "the acceptance of another admin",
      })),
    ),
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
