import { beforeAll, expect, test } from "vitest";
import { revertText } from "../../../check-contract/fixture/revert-text.ts";
import { decodeReference, encodeReference, recordReference } from "../../../check-contract/reference.ts";
import { plannedStates, stateChecks } from "../../../check-contract/rules/plan.ts";
import type { StatesRecording } from "../../../check-contract/rules/record-states.ts";
import { table } from "../../../check-contract/rules/table/all.ts";

let reference: Awaited<ReturnType<typeof recordReference>>;
let states: StatesRecording["states"];

beforeAll(async () => {
  reference = await recordReference();
  states = reference.states.states;
});

test("on the sandbox's own registrar contract, every call in every state has the outcome that its rules say", () => {
  const wrong: string[] = [];
  let tried = 0;
  for (const [place, { failedStep, outcomes }] of states.entries()) {
    const { state, description } = plannedStates[place] ?? {};
    if (state === undefined) throw new Error(`There is no state ${place}.`);
    expect(failedStep, description).toBeNull();
    for (const [call, { succeeded, returned }] of outcomes) {
      tried += 1;
      const actual = succeeded ? "succeeds" : revertText(returned).split("(")[0];
      const [expected = "succeeds"] = call.broken(state);
      if (actual !== expected) wrong.push(`${call.name}, ${description}: ${actual}, not ${expected}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(tried).toBe(
    plannedStates.reduce((sum, { refused, accepted }) => sum + refused.length + accepted.length, 0),
  );
});

test("the reference is the same after it was written to a file and read again", () => {
  const read = decodeReference(encodeReference(reference));
  expect(read.calls).toEqual(reference.calls);
  expect(read.gas).toEqual(reference.gas);
  expect(read.states).toEqual(reference.states);
});

test("every call is tried in a state, and no two checks have the same name", () => {
  expect(new Set(stateChecks.map(({ call }) => call)).size).toBe(table.length);
  expect(new Set(stateChecks.map(({ name }) => name)).size).toBe(stateChecks.length);
});

test("every function is tried in every state that its rules allow, with keys and with code in the wallets", () => {
  const accepted = new Set(
    plannedStates.flatMap(({ state, accepted: calls }) =>
      calls.map(({ name }) => `${name.split(" ")[0]}, ${state.wallets}`),
    ),
  );
  expect([...accepted].sort()).toMatchInlineSnapshot(`
    [
      "acceptAdmin, contracts",
      "acceptAdmin, keys",
      "claim, contracts",
      "claim, keys",
      "collectRefund, contracts",
      "collectRefund, keys",
      "enroll, contracts",
      "enroll, keys",
      "enrolledAs(), keys",
      "expire, contracts",
      "expire, keys",
      "figures(), keys",
      "funding(), keys",
      "fundingSource(), keys",
      "hashClaim(), keys",
      "hashFunding(), keys",
      "hashPurchase(), keys",
      "offer, contracts",
      "offer, keys",
      "openProgram, contracts",
      "openProgram, keys",
      "pay, contracts",
      "pay, keys",
      "payBatch, contracts",
      "payBatch, keys",
      "payWithPermit, contracts",
      "payWithPermit, keys",
      "pendingAdmin(), keys",
      "programState(), keys",
      "purchase(), keys",
      "register, contracts",
      "register, keys",
      "revokeFunding, contracts",
      "revokeFunding, keys",
      "setBounds, contracts",
      "setBounds, keys",
      "setPaused, contracts",
      "setPaused, keys",
      "the, contracts",
      "the, keys",
      "transferAdmin, contracts",
      "transferAdmin, keys",
      "withdrawOffer, contracts",
      "withdrawOffer, keys",
    ]
  `);
});

test("the name of a check says the call, its caller and the state", () => {
  const names = stateChecks.map(({ name }) => name);
  expect(names).toContain("collectRefund by the admin: offer, funding revoked");
  expect(names).toContain("claim by the buyer: offer, withdrawn");
  expect(names).toContain("payBatch of both routes with the purchase in the middle: offer, withdrawn");
  expect(names).toContain("register by the merchant: registration, wallets with code");
});
