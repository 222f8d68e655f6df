import { expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { problemSchema } from "../../../server/http/schemas/problem.ts";
import { sendEnrollment } from "./sent-enrollment.ts";

test("a transaction is accepted at the last required confirmation, not one earlier", async () => {
  await using sandbox = await createSandbox({ seed: "confirmations", confirmations: 3 });
  const confirm = await sendEnrollment(sandbox);

  for (const confirmations of [1, 2]) {
    const { error, response } = await confirm();
    const { code, binding } = problemSchema.parse(error);
    expect(code).toBe("transaction_unconfirmed");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(binding?.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "confirmations", ok: false, expected: 3, actual: confirmations },
    ]);
    await sandbox.chain.client.mine({ blocks: 1 });
  }
  expect((await confirm()).data?.status).toBe("enrolled");
});
