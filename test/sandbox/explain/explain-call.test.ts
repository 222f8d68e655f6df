import { encodeFunctionData, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { claimCall, payBatchCall } from "../../../protocol/call.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { type CallExplanation, callExplanationSchema } from "../../../sandbox/explain/explanation.ts";
import { renderCallExplanation } from "../../../testkit/explanations/render-explanation.ts";
import { tryCli } from "../../cli/run-cli.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

async function post(body: unknown): Promise<Response> {
  return await fetch(`${fixture.sandbox.description.urls.control}/explain`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Asks over HTTP and in code, which answer the same. */
async function explain(call: { from: Hex; to: Hex; data?: Hex; value?: string }): Promise<CallExplanation> {
  const response = await post({ call });
  const answer: unknown = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  const explanation = callExplanationSchema.parse(answer);
  expect(await fixture.sandbox.explain({ call })).toEqual(explanation);
  return explanation;
}

test("a call that would be accepted says as what, which checks are not known yet, and changes nothing", async () => {
  const before = await fixture.sandbox.fingerprint();
  const { to, data } = fixture.pay(fixture.purchase);
  const explanation = await explain({ from: fixture.address("buyer"), to, data });
  expect(explanation).toMatchObject({
    cause: `It would be accepted as payment of ${fixture.purchase.id}.`,
    accepted: true,
    not_checked: ["mined", "confirmations", "canonical", "unused"],
    call: { function: "pay", contract: "the registrar contract" },
    revert: null,
  });
  expect(explanation.checks.map(({ name }) => name)).toEqual([
    "chain",
    "status",
    "wallet",
    "contract",
    "value",
    "calldata",
    "purchase",
    "log",
    "timely",
  ]);
  expect(explanation.logs.map(({ event }) => event)).toEqual(["PurchasePaid", "Transfer"]);
  expect(explanation.trace?.calls.map(({ call }) => call)).toContainEqual(
    expect.stringMatching(/^transferFrom\(/),
  );
  expect((await fixture.sandbox.fingerprint()).digest).toBe(before.digest);
  const hash = await fixture.succeed("buyer", { to, data });
  expect(await fixture.sandbox.explain(hash)).toMatchObject({ accepted: true });
});

describe("a call is refused before it is sent:", () => {
  const refused: [what: string, call: () => Parameters<typeof explain>[0], cause: () => string | RegExp][] = [
    [
      "an overpayment, with the contract's error",
      () => ({ from: fixture.address("buyer"), ...bare(fixture.pay(fixture.purchase, 26n * usdc)) }),
      () => "It would revert: AmountOutOfRange(value amount, actual 26000000, min 1, max 25000000).",
    ],
    [
      "another wallet",
      () => ({ from: fixture.address("stranger"), ...bare(fixture.pay(fixture.purchase)) }),
      () =>
        `It would be sent by ${fixture.address("stranger")}; the bound wallet is ${fixture.address("buyer")}.`,
    ],
    [
      "ETH sent along",
      () => ({ from: fixture.address("buyer"), ...bare(fixture.approve(usdc)), value: "1" }),
      () => "It carries 1 wei; none is expected.",
    ],
    [
      "a transfer in place of a payment",
      () => ({ from: fixture.address("buyer"), to: fixture.contracts.token, data: transferData() }),
      () => "It calls transfer on the token contract; pay on the registrar contract was expected.",
    ],
    [
      "a batch with more amounts than ids",
      () => ({
        from: fixture.address("buyer"),
        ...bare(
          payBatchCall(fixture.contracts.registrar, [fixture.purchase.commitment.hash], [25n * usdc, 1n]),
        ),
      }),
      () => 'In payBatch, amounts[1] is "1"; none was expected.',
    ],
    [
      "another spender",
      () => ({
        from: fixture.address("buyer"),
        ...bare(fixture.approve(usdc, fixture.address("stranger"))),
      }),
      () => /^In approve, spender is "0x\w{40}"; "0x\w{40}" was expected\.$/,
    ],
    [
      "more ETH than the wallet has",
      () => ({
        from: fixture.address("buyer"),
        to: fixture.address("stranger"),
        value: (10n ** 24n).toString(),
      }),
      () => /./,
    ],
  ];

  test.each(refused)("%s", async (_what, call, cause) => {
    const explanation = await explain(call());
    expect(explanation.accepted).toBe(false);
    expect(explanation.cause).toEqual(typeof cause() === "string" ? cause() : expect.stringMatching(cause()));
  });

  test("a payment after its deadline, at the time of the next block", async () => {
    await fixture.sandbox.clock.travelTo(fixture.purchase.deadlines.pay_deadline);
    const call = { from: fixture.address("buyer"), ...bare(fixture.pay(fixture.purchase)) };
    expect((await explain(call)).cause).toMatch(/^It would revert: DeadlinePassed\(/);
  });
});

/** The hex in which one byte is another one. */
function withWrongByte(hex: Hex, index: number): Hex {
  const at = 2 + index * 2;
  const wrong = (Number.parseInt(hex.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, "0");
  return `0x${hex.slice(2, at)}${wrong}${hex.slice(at + 2)}`;
}

describe("one wrong byte is named:", () => {
  const buyer = () => fixture.address("buyer");

  test.each([0, 1])("in id %i of a batch", async (place) => {
    await fixture.succeed("merchant", await fixture.registration(fixture.draft));
    const paid = [fixture.purchase, fixture.draft];
    const ids = paid.map(({ commitment }) => commitment.hash);
    const wrong = ids.map((id, index) => (index === place ? withWrongByte(id, 5) : id));
    const amounts = paid.map(() => 25n * usdc);
    const call = { from: buyer(), ...bare(payBatchCall(fixture.contracts.registrar, wrong, amounts)) };
    const { cause } = await explain(call);
    expect(cause).toBe(`In payBatch, ids[${place}] is "${wrong[place]}"; "${ids[place]}" was expected.`);
  });

  test.each([
    ["an offset", [35], "an offset or a length in them is wrong."],
    ["the length of a list", [99], 'In payBatch, ids[0] is missing; "ID" was expected.'],
  ])("in %s of a batch", async (_what, [byte = 0], cause) => {
    const { hash } = fixture.purchase.commitment;
    const { to, data } = payBatchCall(fixture.contracts.registrar, [hash as Hex], [25n * usdc]);
    const explanation = await explain({ from: buyer(), to, data: withWrongByte(data, byte) });
    expect(explanation.cause).toContain(cause.replace("ID", hash));
  });

  test("in an offset of a registration", async () => {
    const { to, data } = await fixture.registration(fixture.draft);
    // After the selector and the twelve words of the purchase.
    const call = { from: fixture.address("merchant"), to, data: withWrongByte(data, 4 + 13 * 32 - 1) };
    expect(await explain(call)).toMatchObject({
      step: "registration",
      subject: fixture.draft.id,
      cause: expect.stringContaining(
        "The arguments of register cannot be decoded: the word at byte 388 is 0x",
      ),
    });
  });

  test("in the selector", async () => {
    const { to, data } = await fixture.registration(fixture.draft);
    const call = { from: fixture.address("merchant"), to, data: withWrongByte(data, 2) };
    const explanation = await explain(call);
    expect(explanation).toMatchObject({
      step: "registration",
      subject: fixture.draft.id,
      cause: "It calls no known function; register on the registrar contract was expected.",
    });
  });
});

test("a registration is judged without the state that only its transaction writes", async () => {
  const { to, data } = await fixture.registration(fixture.draft);
  expect(await explain({ from: fixture.address("merchant"), to, data })).toMatchObject({
    accepted: true,
    step: "registration",
    subject: fixture.draft.id,
    not_checked: ["mined", "confirmations", "canonical", "unused", "purchase"],
  });
});

test("a claim is judged with its purchase, which is on the chain before it", async () => {
  const { sandbox } = fixture;
  const { purchase } = await sandbox.given.purchase({ state: "reconciled" });
  const { to, data } = claimCall(fixture.contracts.registrar, purchase.commitment.hash, hashId("claim"));
  const { step, not_checked } = await explain({ from: fixture.address("beneficiary"), to, data });
  expect([step, not_checked]).toEqual(["claim", ["mined", "confirmations", "canonical", "unused"]]);
});

test("the transaction of a wallet route is explained as it is, unless it is for another chain", async () => {
  const { urls } = fixture.sandbox.description;
  const { id, program } = fixture.second;
  const route = await fetch(`${urls.api}/wallet/${program}/purchase/${id}`, {
    headers: { Accept: "application/json" },
  });
  const { actions } = z
    .object({ actions: z.array(z.object({ name: z.string(), transaction: z.looseObject({}).nullish() })) })
    .parse(await route.json());
  const pay = actions.find(({ name }) => name === "pay")?.transaction;
  expect(pay).toMatchObject({ chain_id: 31_337, function: "pay" });
  const answer = await post({ call: pay });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { accepted: true, step: "payment", subject: id },
  ]);
  const elsewhere = await post({ call: { ...pay, chain_id: 1 } });
  expect([elsewhere.status, await elsewhere.json()]).toMatchObject([
    422,
    {
      detail:
        "The option call is wrong: chain_id is 1, and the sandbox's chain is 31337. Build the transaction for that chain.",
    },
  ]);
});

test("a call is compared with the purchase that is named", async () => {
  const { to, data } = fixture.approve(usdc);
  const call = { from: fixture.address("buyer"), to, data };
  for (const { id } of [fixture.purchase, fixture.second])
    expect(await fixture.sandbox.explain({ call, for: id })).toMatchObject({ subject: id, accepted: true });
});

test("a terminal shows the cause, the block, the calls and the other steps", async () => {
  const { to, data } = fixture.approve(usdc, fixture.address("stranger"));
  const explanation = await explain({ from: fixture.address("buyer"), to, data });
  const plain = renderCallExplanation(explanation, false);
  const [first, second, third] = plain.split("\n");
  expect(first).toBe(explanation.cause);
  expect(second).toMatch(/^Simulated on block \d+ at 20.*Z, compared with the payment approval of pur_/);
  expect(third).toBe("Not known before it is sent: mined, confirmations, canonical, unused");
  expect(plain).toContain("Call of approve on the token contract");
  expect(plain).toContain("Compared with\n");
});

test.each<[what: string, call: unknown, detail: string]>([
  [
    "no object",
    5,
    "The option call is 5. Pass {from, to, data, value?}: addresses, calldata in hex, and wei.",
  ],
  [
    "no sender",
    { to: `0x${"11".repeat(20)}` },
    "The option call is wrong: from is missing. Pass {from, to, data, value?}: addresses, calldata in hex, and wei.",
  ],
  [
    "half a byte",
    { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}`, data: "0x123" },
    'The option call is wrong: data must be whole bytes in hex with 0x, not "0x123". Pass {from, to, data, value?}: addresses, calldata in hex, and wei.',
  ],
  [
    "ether in decimals",
    { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}`, value: "0.1" },
    'The option call is wrong: value must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x, not "0.1". Pass {from, to, data, value?}: addresses, calldata in hex, and wei.',
  ],
  [
    "more than a uint256 of ether",
    { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}`, value: `0x1${"0".repeat(64)}` },
    `The option call is wrong: value must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x, not "0x1${"0".repeat(64)}". Pass {from, to, data, value?}: addresses, calldata in hex, and wei.`,
  ],
  [
    "a semicolon in a value",
    { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}`, data: "0x12; is missing; send 0x34" },
    'The option call is wrong: data must be whole bytes in hex with 0x, not "0x12; is missing; send 0x34". Pass {from, to, data, value?}: addresses, calldata in hex, and wei.',
  ],
  [
    "a semicolon in the name of a member",
    { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}`, "a;b": 1 },
    "The option call is wrong: a;b is not a field of this request. Pass {from, to, data, value?}: addresses, calldata in hex, and wei.",
  ],
])("a call with %s is refused in two sentences", async (_what, call, detail) => {
  const response = await post({ call });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ code: "argument_invalid", detail });
});

test("the command takes one thing to explain, and a call as JSON", async () => {
  expect(await tryCli(["explain"])).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "explain needs one of a transaction hash, --call, --typed-data and --decision, and 0 are given. Pass one of them.\n",
  });
  expect(await tryCli(["explain", "--call", "{from}"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `--call {from} is not JSON. Pass '{"from":"0x…","to":"0x…","data":"0x…"}'.\n`,
  });
});

function bare({ to, data }: { to: Hex; data: Hex }): { to: Hex; data: Hex } {
  return { to, data };
}

function transferData(): Hex {
  const args = [fixture.address("merchant"), 25n * usdc] as const;
  return encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args });
}
