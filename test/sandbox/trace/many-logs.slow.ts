import { toHex } from "viem";
import { expect, test } from "vitest";
import type { Explanation } from "../../../sandbox/explain/explanation.ts";
import type { BlockView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { rpcOf } from "../../end-to-end/rpc.ts";
import { controlSandbox } from "../../kit/control.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const logger = "0x00000000000000000000000000000000000000ee";
/** LOG0 without data, and again while over 8,192 gas are left. */
const loggingCode = "0x5b60006000a06120005a1160005700";

/** Calls `approve` of the token, then LOG3 with three new addresses as topics, and again while over 8,192 gas are left. */
function approvingCode(token: string): string {
  const approve = `63095ea7b360e01b6000526412345678ab60045260016024526000600060446000600073${token.slice(2)}5af150`;
  const start = toHex(approve.length / 2, { size: 2 }).slice(2);
  return `0x${approve}5b5a60401b5a60411b5a60421b60006000a36120005a1161${start}5700`;
}

test("transactions with very many logs are shown and explained, and a trace without their explanations says so", async () => {
  const { description } = await freshSandbox();
  const rpc = rpcOf(description);
  const from = description.wallets["stranger"]?.address;
  const read = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${description.urls.control}${path}`);
    return JSON.parse(await answer.text());
  };
  const hashes: string[] = [];
  for (const code of [loggingCode, approvingCode(description.contracts.token)]) {
    await rpc("anvil_setCode", logger, code);
    hashes.push(String(await rpc("eth_sendTransaction", { from, to: logger, gas: toHex(16_000_000) })));
    await controlSandbox(description, "POST", "/blocks", { blocks: 1 });
  }
  const { data } = await read<ViewPage<BlockView>>("/explorer/blocks?has=transactions");
  const shown = data.flatMap(({ transactions }) => transactions).slice(0, 2);
  expect(shown.map(({ hash, logs }) => [hash, logs > 10_000])).toEqual(
    hashes.toReversed().map((hash) => [hash, true]),
  );
  const explained = await read<Explanation>(`/explain/${hashes[1]}`);
  expect(explained.logs).toHaveLength(shown[0]?.logs ?? 0);
  expect(explained.changes?.storage).toMatchObject([{ type: "uint256", before: "0", after: "1" }]);
  const trace = await (await fetch(`${description.urls.control}/trace`)).text();
  expect(trace).toContain("Left out\nTransactions without an explanation: 2.");
  expect(trace.length).toBeLessThan(2_000_000);
});
