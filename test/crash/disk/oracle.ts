import { existsSync } from "node:fs";
import { expect } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { type RelayedRequest, send } from "../storefront.ts";
import type { Fact } from "./facts.ts";

const address = "0x00000000000000000000000000000000000000aa";

/** The facts that must be true: what a restore took back is not, and what one under way may have taken back is or is not, all of it. */
function branches(facts: readonly Fact[]): Fact[][] {
  const at = (name: Fact["fact"]) => facts.findIndex(({ fact }) => fact === name);
  const [taken, begun, ended] = [at("snapshot"), at("restoring"), at("restored")];
  if (begun === -1) return [[...facts]];
  const undone = [...facts.slice(0, taken), ...facts.slice(begun)];
  const isRefused = facts.some((fact) => fact.fact === "refused" && fact.step === "restore");
  return ended === -1 || isRefused ? [undone, [...facts]] : [undone];
}

/** The balances that the account may have: the one that was answered last, or one that it was given since by a call that was not answered. */
function possibleBalances(facts: readonly Fact[]): string[] {
  const answered = facts.findLastIndex(({ fact }) => fact === "balance");
  return facts
    .slice(Math.max(answered, 0))
    .flatMap((fact) => (fact.fact === "balance" || fact.fact === "setting" ? [fact.value] : []))
    .concat(answered === -1 ? ["0"] : []);
}

/**
 * Returns whether the chain has the blocks and the balance of the reported facts. A call that was refused may have had
 * its effect.
 */
async function fits({ chain: { client } }: Sandbox, facts: readonly Fact[]): Promise<boolean> {
  for (const fact of facts)
    if (fact.fact === "block") {
      const block = await client.getBlock({ blockNumber: BigInt(fact.number) }).catch(() => null);
      if (block?.hash !== fact.hash) return false;
    }
  return possibleBalances(facts).includes(String(await client.getBalance({ address })));
}

/**
 * Starts a sandbox on a data directory and makes sure that everything is there that was answered, that a request which was answered is
 * answered with the same bytes, and that each has its effect on the chain once.
 */
export async function requireAll(dataDirectory: string, facts: readonly Fact[]): Promise<void> {
  await using sandbox = await createSandbox({ dataDirectory });
  const { description, chain } = sandbox;
  const possible: Fact[][] = [];
  for (const branch of branches(facts)) if (await fits(sandbox, branch)) possible.push(branch);
  const answers: RelayedRequest[] = [];
  const session = await Session.open(await actorsOf(description), silentPrinter);
  const branch = possible[0] ?? [];
  expect(possible.length, "The chain has every block that was answered.").toBeGreaterThan(0);
  const undone = new Set(facts.filter((fact) => possible.every((one) => !one.includes(fact))));
  for (const fact of facts) {
    if (fact.fact !== "sending" || undone.has(fact)) continue;
    const { request } = fact;
    const told = branch.find((one) => one.fact === "answered" && one.request.key === request.key);
    const again = await send(description, session.credential, request);
    if (possible.length > 1 && again.status === 404) continue;
    expect(again.status, again.text).toBe(request.success);
    if (told?.fact === "answered") expect(again).toEqual({ ...told.answer, replayed: true });
    answers.push(request);
  }
  const logs = await chain.client.getLogs({ address: description.contracts.registrar, fromBlock: 0n });
  for (const { kind, commitment } of answers)
    if (kind === "offer")
      expect(logs.filter(({ topics }) => topics.some((topic) => topic === commitment))).toHaveLength(1);
  for (const fact of facts)
    if (fact.fact === "saved" && existsSync(fact.file))
      await (await createSandbox({ from: fact.file })).close();
}
