import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, startHardhatNode } from "../../../kit/connected.ts";

test("both routes lead from enrollment to a refund on another node than Anvil", async () => {
  const url = await startHardhatNode();
  const { folder, ...network } = await deployOn(url);
  await using sandbox = await createSandbox({ network, dataDirectory: join(folder, "data") });
  for (const route of ["registrar_offer", "merchant_direct"] as const) {
    const { refund, purchase } = await sandbox.given.purchase({ state: "refunded", route });
    expect(refund.status).toBe("collected");
    expect(purchase.status).toBe("refunded");
  }
});
