import { type Hex, slice } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { usdc } from "../../../protocol/values/amount.ts";

const rawLog = z.looseObject({
  data: z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x")),
  logIndex: z.string(),
});
type RawLog = z.infer<typeof rawLog>;

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

/** Two payments of 10 and 5 USDC, of which the node lists other logs from now on. */
async function payTwiceAndList(lie: (logs: RawLog[]) => RawLog[]): Promise<void> {
  await fixture.succeed("buyer", fixture.pay(fixture.purchase, 10n * usdc));
  await fixture.succeed("buyer", fixture.pay(fixture.purchase, 5n * usdc));
  fixture.tampered.change("eth_getLogs", (answer, parameters) =>
    JSON.stringify(parameters).includes("blockHash") ? answer : lie(z.array(rawLog).parse(answer)),
  );
}

/** A payment's log with another amount, or another total after it: the last two words of its data. */
function told(log: RawLog | undefined, amounts: { amount: bigint; paidTotal: bigint }): RawLog {
  if (log === undefined) throw new Error("The purchase has two payments.");
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  return { ...log, data: `${slice(log.data, 0, 32)}${word(amounts.amount)}${word(amounts.paidTotal)}` };
}

const whoIsWrong =
  "Either the node leaves something out, or what the registrar contract logs is not what it holds: check-contract says which log.";

const addUpTo = (total: bigint) =>
  `The payment logs of ${fixture.purchase.commitment.hash} add up to ${total}, and ${15n * usdc} are paid. ${whoIsWrong}`;

const lies: [what: string, lie: (logs: RawLog[]) => RawLog[], detail: () => string][] = [
  [
    "with an invented payment",
    (logs) => [...logs, { ...told(logs[1], { amount: 2n * usdc, paidTotal: 17n * usdc }), logIndex: "0x9" }],
    () => addUpTo(17n * usdc),
  ],
  ["without the last payment", (logs) => logs.slice(0, 1), () => addUpTo(10n * usdc)],
  ["without any payment", () => [], () => addUpTo(0n)],
  [
    "with other amounts and the right sum",
    ([first, second]) => [
      told(first, { amount: 12n * usdc, paidTotal: 10n * usdc }),
      told(second, { amount: 3n * usdc, paidTotal: 15n * usdc }),
    ],
    () =>
      `A payment log of ${fixture.purchase.commitment.hash} says that ${10n * usdc} is paid; the logs up to it add up to ${12n * usdc}. ${whoIsWrong}`,
  ],
  [
    "in another order",
    (logs) => logs.toReversed(),
    () =>
      `A payment log of ${fixture.purchase.commitment.hash} says that ${15n * usdc} is paid; the logs up to it add up to ${5n * usdc}. ${whoIsWrong}`,
  ],
];

test.each(lies)("a purchase's logs %s are not reconciled", async (_what, lie, detail) => {
  await payTwiceAndList(lie);
  const answer = await fixture.reconcile(fixture.purchase);
  expect(answer).toMatchObject({ status: 503, code: "rpc_unavailable", wrote: false });
  expect(answer.body).toMatchObject({ detail: detail(), retryable: true });
});

test.each(lies)("a purchase's logs %s are not shown", async (_what, lie, detail) => {
  await payTwiceAndList(lie);
  const { program, id } = fixture.purchase;
  const { error } = await fixture.sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program, id } },
  });
  expect(error).toMatchObject({ status: 503, code: "rpc_unavailable", detail: detail(), retryable: true });
});
