import { beforeAll, expect, test } from "vitest";
import type { RecordedCall } from "../../../check-contract/calls/call-recorder.ts";
import { findCallBreach } from "../../../check-contract/calls/call-sequence.ts";
import { revertText } from "../../../check-contract/fixture/revert-text.ts";
import { type ReferenceEffects, readReference } from "../../../check-contract/reference.ts";

let calls: readonly RecordedCall[];
let reference: ReferenceEffects;

beforeAll(async () => {
  reference = await readReference();
  calls = [...reference.calls.values()].flat();
});

/** Sentences of calls that must revert. */
const refusal = /^only | (is|are) refused$|cannot /;

test("a call reverts on the sandbox's own registrar contract exactly if its rule says so", () => {
  const wrong = calls.filter(({ rule, effect: { outcome } }) => {
    if (outcome === undefined) return false;
    // There the call from inside the transfer is refused, not the payment.
    const isRefused = refusal.test(rule) && !rule.endsWith("called during a transfer is refused");
    return isRefused !== String(outcome).startsWith("reverted with ");
  });
  expect(wrong.map(({ rule, effect }) => `${rule}: ${effect["outcome"]}`)).toEqual([]);
  expect(calls.length).toBeGreaterThan(200);
});

test("every call from inside a token's transfer is refused by the guard against it", () => {
  const during = calls.filter(({ rule }) => rule.endsWith("called during a transfer is refused"));
  const inner = during.map(({ effect }) => effect["inner call"]);
  // For each function that changes state, in a payment and in a refund, and for three more transfers.
  expect(inner).toEqual(Array.from({ length: 36 }, () => "reverted with an error of a guard"));
});

test("each rule is broken by an error of its own, in every program, funding, offer, payment, claim and refund", () => {
  const inSequences = calls.flatMap(
    // A call that breaks two rules names both.
    ({ effect }) => /^reverted with ([\w ]+)/.exec(String(effect["outcome"]))?.[1]?.split(" or ") ?? [],
  );
  const inStates = reference.states?.states.flatMap(({ outcomes }) =>
    [...outcomes.values()].flatMap(({ succeeded, returned }) =>
      succeeded ? [] : (revertText(returned).split("(")[0] ?? []),
    ),
  );
  const errors = new Set([...inSequences, ...(inStates ?? [])]);
  expect([...errors].sort()).toMatchInlineSnapshot(`
    [
      "AlreadyClaimed",
      "AlreadyEnrolled",
      "AlreadyRefunded",
      "AlreadyRevoked",
      "AmountOutOfRange",
      "BatchLengths",
      "BudgetExceeded",
      "DeadlineNotPassed",
      "DeadlinePassed",
      "DeadlinesOutOfOrder",
      "Error",
      "FundingInsufficient",
      "FundingTooShort",
      "InexactTransfer",
      "InvalidSignature",
      "MerchantRefTaken",
      "NonCanonicalEncoding",
      "NonCanonicalLength",
      "NotClaimed",
      "NotEnrolled",
      "NotRegistrar",
      "NothingOutstanding",
      "NothingPaid",
      "PermitRefused",
      "ProgramAlreadyOpen",
      "ProgramNotOpen",
      "ProgramPaused",
      "PurchaseExists",
      "SafeERC20FailedOperation",
      "SameParty",
      "TokenMismatch",
      "UnknownFunding",
      "UnknownPurchase",
      "WrongCaller",
      "WrongRoute",
      "WrongStatus",
      "ZeroValue",
      "no reason",
    ]
  `);
});

const call = (effect: RecordedCall["effect"]): RecordedCall => ({ rule: "a rule", hash: "0xaa", effect });

test.each([
  [
    { outcome: "succeeded" },
    { outcome: "reverted with X()" },
    "the call should have reverted with X(); it succeeded (0xaa)",
  ],
  [
    { events: [{ event: "Paid", amount: "1" }] },
    { events: [{ event: "Paid", amount: "2" }] },
    "amount of the event Paid must be 2; it is 1 (0xaa)",
  ],
  [
    { events: [{ event: "Paid", amount: "1" }] },
    { events: [{ event: "Claimed", amount: "1" }] },
    'events.0 must be {"event":"Claimed","amount":"1"}; it is {"event":"Paid","amount":"1"} (0xaa)',
  ],
  [
    { "inner call": "reverted with X()" },
    { "inner call": "reverted with ReentrancyGuardReentrantCall()" },
    "the call from inside the transfer should have reverted with ReentrancyGuardReentrantCall(); it reverted with X() (0xaa)",
  ],
  [{ events: [] }, { events: [{ event: "Paid", amount: "1" }] }, "the call must emit the event Paid (0xaa)"],
  [
    {
      events: [
        { emitter: "registrar", topics: ["0x12"] },
        { emitter: "registrar", event: "Paid" },
      ],
    },
    { events: [{ emitter: "registrar", event: "Paid" }] },
    'the call must not emit {"emitter":"registrar","topics":["0x12"]} (0xaa)',
  ],
  [
    { events: [{ event: "Transfer" }, { event: "Paid" }] },
    { events: [{ event: "Paid" }, { event: "Transfer" }] },
    "the call must emit Paid, Transfer in this order; it emits Transfer, Paid (0xaa)",
  ],
  [{ events: [] }, { events: ["a"] }, "events.0 must be a; it is missing (0xaa)"],
  [{ "figures(0x12)": { paid: "1" } }, { "figures(0x12)": { paid: "1" } }, null],
])("the difference between %j and %j is described", (actual, expected, described) => {
  expect(findCallBreach(call(actual), call(expected))?.failure ?? null).toBe(described);
});

test("a wrong argument of the right error is a rule of its own, whatever function is called", () => {
  const refused = (remaining: number) =>
    call({ outcome: `reverted with FundingInsufficient(amount 5, remaining ${remaining})` });
  const breach = { rule: "the argument remaining of the error FundingInsufficient has the right value" };
  expect(findCallBreach(refused(20), refused(4))).toMatchObject(breach);
  const offer = { function: "offer" };
  expect(findCallBreach({ ...refused(20), ...offer }, { ...refused(4), ...offer })).toMatchObject({
    ...breach,
    includedIn: "an offer above what is left of the cap is refused",
  });
});

test("events in a wrong order are named as that", () => {
  const [paid, transfer] = [{ event: "Paid" }, { event: "Transfer" }];
  expect(findCallBreach(call({ events: [transfer, paid] }), call({ events: [paid, transfer] }))?.rule).toBe(
    "a call emits its events in the right order",
  );
});
