import { access } from "./access.ts";
import { binding } from "./binding.ts";
import { bodies } from "./bodies.ts";
import { chainReader } from "./chain-reader.ts";
import { client } from "./client.ts";
import { clock } from "./clock.ts";
import { deliveries } from "./deliveries.ts";
import { documentation } from "./documentation.ts";
import { explain } from "./explain.ts";
import { faults } from "./faults.ts";
import { givenStates } from "./given.ts";
import { hardhatPlugin } from "./hardhat-plugin.ts";
import { idempotency } from "./idempotency.ts";
import { lists } from "./lists.ts";
import { matchers } from "./matchers.ts";
import { merchants } from "./merchants.ts";
import type { Mutant, MutantGroup } from "./mutant.ts";
import { outbox } from "./outbox.ts";
import { payments } from "./payments.ts";
import { purchaseSteps } from "./purchase-steps.ts";
import { refunds } from "./refunds.ts";
import { relayer } from "./relayer.ts";
import { rpc } from "./rpc.ts";
import { signatures } from "./signatures.ts";
import { snapshots } from "./snapshots.ts";
import { store } from "./store.ts";
import { storeTables } from "./store-tables.ts";
import { wallet } from "./wallet.ts";

const subjects: { readonly [subject: string]: readonly MutantGroup[] } = {
  signatures,
  binding,
  chain: chainReader,
  merchants,
  steps: purchaseSteps,
  payments,
  refunds,
  wallet,
  access,
  bodies,
  idempotency,
  lists,
  outbox,
  documentation,
  relayer,
  faults,
  store,
  tables: storeTables,
  snapshots,
  clock,
  rpc,
  explain,
  given: givenStates,
  hardhat: hardhatPlugin,
  client,
  matchers,
  deliveries,
};

/** Every bug that is planted. */
export const mutants: readonly Mutant[] = Object.entries(subjects).flatMap(([subject, groups]) =>
  groups.flatMap(({ file, tests, only = null, mutants: planted }) =>
    planted.map((mutant) => ({
      subject,
      file,
      only: mutant.tests === undefined ? only : null,
      tests,
      ...mutant,
    })),
  ),
);

/** The same few each time: the first of every subject, then the second of every subject, and so on. */
export function sampleOf(all: readonly Mutant[], count: number): Mutant[] {
  const bySubject = Object.values(Object.groupBy(all, ({ subject }) => subject));
  const longest = Math.max(...bySubject.map((list = []) => list.length));
  const inTurn = Array.from({ length: longest }, (_, place) =>
    bySubject.flatMap((list) => list?.[place] ?? []),
  );
  return inTurn.flat().slice(0, count);
}
