import { expect, test } from "vitest";
import { z } from "zod";
import { passedMethods } from "../../../../sandbox/chain/rpc/methods/method-list.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

const response = z.object({ error: z.object({ message: z.string() }).optional() });

test("no method is passed on that Anvil does not implement", async () => {
  const { description, wallets } = await freshSandbox();
  const { buyer } = wallets;
  const { token } = description.contracts;
  const hash = `0x${"00".repeat(32)}`;
  const typedData = { types: { EIP712Domain: [] }, domain: {}, primaryType: "EIP712Domain", message: {} };
  const someParams = [
    [],
    ["0x0000000000000001", hash, hash],
    [hash, hash],
    [buyer.address, typedData],
    [buyer.address, "0x1234"],
    ["0x1234", buyer.address],
    [token, "latest"],
    [{ from: buyer.address, to: token, gas: "0x5208" }],
  ];
  const headers = { "Content-Type": "application/json" };
  const notImplemented = [];
  for (const method of passedMethods.flatMap(({ methods }) => Object.keys(methods)))
    for (const params of someParams) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { text } = await ask(description.urls.rpc, { method: "POST", headers, body });
      const { error } = response.parse(JSON.parse(text));
      if (/implement|invalid type: sequence/i.test(error?.message ?? "")) notImplemented.push(method);
    }
  expect(notImplemented).toEqual([]);
});
