import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** A snapshot file of routing-sandbox 0.1.0, with the contracts of that version, and the store of a sandbox that was killed. */
const kept = join(import.meta.dirname, "..", "..", "kept", "0.1.0");
/** The fingerprint, and a claimed purchase with its claim, as 0.1.0 returned them. */
const written = JSON.parse(await readFile(join(kept, "expected.json"), "utf8"));

/** Continues where 0.1.0 stopped, and makes a purchase from its beginning. */
async function refund({ client, reviewer, given }: Sandbox): Promise<string[]> {
  const { purchase, claim } = written;
  const decision = await reviewer.decide(purchase, claim, { award: "5000000" });
  const { refund } = unwrap(
    await client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: {
        path: { program: purchase.program, id: purchase.id },
        header: { "Idempotency-Key": "refund-1" },
      },
      body: { decision_id: decision.id },
    }),
  );
  const made = await given.purchase({ state: "refunded", program: "prg_other" });
  return [refund.status, made.refund.status];
}

async function dataDirectory(): Promise<string> {
  const directory = await temporaryFolder();
  const store = join(directory, "store");
  await mkdir(store);
  for (const name of await readdir(join(kept, "store")))
    await writeFile(
      join(store, name.replace(".br", "")),
      brotliDecompressSync(await readFile(join(kept, "store", name))),
    );
  return directory;
}

test("a snapshot file of 0.1.0 is loaded with the contracts that it has, continues, and can be saved again", async () => {
  await using sandbox = await createSandbox({ from: join(kept, "kept.snapshot") });
  expect(await sandbox.fingerprint()).toEqual(written.fingerprint);
  expect(sandbox.faults.list()).toMatchObject([{ match: { operation: "executeRefund" } }]);
  await sandbox.faults.clear();
  expect(await refund(sandbox)).toEqual(["collected", "collected"]);
  const file = join(await temporaryFolder(), "again.snapshot");
  await sandbox.save(file);
  await using loaded = await createSandbox({ from: file });
  expect(await loaded.fingerprint()).toEqual(await sandbox.fingerprint());
});

test("a data directory of 0.1.0 whose process was killed is continued with the contracts that it has, and is rewritten", async () => {
  const options: SandboxOptions = { dataDirectory: await dataDirectory() };
  const sandbox = await createSandbox(options);
  const { block, store } = await sandbox.fingerprint();
  expect({ block, store }).toEqual({ block: written.fingerprint.block, store: written.fingerprint.store });
  expect(await refund(sandbox)).toEqual(["collected", "collected"]);
  const after = await sandbox.fingerprint();
  await sandbox.close();
  await using again = await createSandbox(options);
  expect(await again.fingerprint()).toEqual(after);
});
