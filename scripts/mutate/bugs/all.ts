import type { Bug } from "../bug.ts";
import { access } from "./access.ts";
import { binding } from "./binding.ts";
import { idempotency } from "./idempotency.ts";
import { money } from "./money.ts";
import { relayer } from "./relayer.ts";
import { signatures } from "./signatures.ts";
import { store } from "./store.ts";

/** Every bug that is planted, by its subject. */
export const bugs: { readonly [subject: string]: readonly Bug[] } = {
  binding,
  money,
  signatures,
  idempotency,
  relayer,
  store,
  access,
};
