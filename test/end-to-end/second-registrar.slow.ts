import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { RegistrarOption } from "../../sandbox/chain/registrar/registrar.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { ledgerBehind } from "../kit/compile-registrar.ts";
import { temporaryFolder } from "../temporary-folder.ts";

describe.each(["uups", "transparent"] as const)(
  "a second registrar contract behind a proxy (%s)",
  (proxy) => {
    let registrar: RegistrarOption;
    beforeAll(async () => {
      registrar = await ledgerBehind(proxy);
      // It is compiled once, which takes longer than a test.
    }, 120_000);

    const start = async () => await createSandbox({ seed: "second", contracts: { registrar } });
    const refundBoth = async ({ given, fingerprint }: Sandbox) => {
      for (const route of ["registrar_offer", "merchant_direct"] as const) {
        const { refund } = await given.purchase({ state: "refunded", route });
        expect(refund.status).toBe("collected");
      }
      return await fingerprint();
    };

    test("gives equal sandboxes for equal seeds, goes back to a snapshot, and continues from a snapshot file", async () => {
      const file = join(await temporaryFolder(), "second.snapshot");
      await using first = await start();
      const before = await first.snapshot();
      const refunded = await refundBoth(first);
      await first.save(file);
      await before.restore();
      expect(await refundBoth(first)).toEqual(refunded);
      await using second = await start();
      expect(await refundBoth(second)).toEqual(refunded);
      await using loaded = await createSandbox({ from: file });
      expect(await loaded.fingerprint()).toEqual(refunded);
    });
  },
);
