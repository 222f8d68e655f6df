import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await freshSandbox();
  start = await sandbox.snapshot();
});

/** Returns the activation of a purchase by the sandbox's client, which has no credential yet. */
async function activation() {
  await start.restore();
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  return async () => await sandbox.client.retrying.activate(purchase);
}

describe("a fault of the API that names issueAccess", () => {
  test.each(["reset", "partial", "429", "503"] as const)(
    "acts on the client's request for a credential, which retrying repeats after %s",
    async (action) => {
      const activate = await activation();
      await sandbox.faults.set({
        layer: "api",
        point: "after_commit",
        action,
        match: { operation: "issueAccess" },
      });
      expect(await activate()).toMatchObject({ status: "active" });
      expect(sandbox.faults.list()).toMatchObject([{ hits: 1, remaining: 0 }]);
    },
  );
});

describe("a fault of the API that names no operation", () => {
  test("acts on the first write that takes a key, not on the client's request for a credential", async () => {
    await start.restore();
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    const { program, id, commitment } = purchase;
    await sandbox.faults.set("answer-lost");
    const activated = sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: { path: { program, id }, header: { "Idempotency-Key": "activate-1" } },
      body: { commitment_hash: commitment.hash },
    });
    await expect(activated).rejects.toThrow("fetch failed");
    expect(await sandbox.store.get("purchases", id)).toMatchObject({ value: { status: "active" } });
  });
});

test("a node that is down once while a credential is issued is asked again", async () => {
  const activate = await activation();
  await sandbox.faults.set("node-down", { count: 1 });
  expect(await activate()).toMatchObject({ status: "active" });
});
