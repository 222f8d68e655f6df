import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { requestAccess } from "../../../sandbox/client/access/request-access.ts";
import { createApiClient } from "../../../sandbox/client/api-client.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { FaultRequest } from "../../../sandbox/faults/fault-request.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { apiFaultPlacements } from "../../../server/http/faults/api-fault.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { writes } from "./writes.ts";

/** Every fault of the API but the death of the process. */
const faults = Object.entries(apiFaultPlacements)
  .filter(([action]) => action !== "crash")
  .flatMap(([action, points]) => points.map((point) => ({ action, point })));

/** The schema of the served description, as far as it names the writes. */
const described = z.object({
  paths: z.record(z.string(), z.object({ post: z.object({ operationId: z.string() }).optional() })),
});

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await freshSandbox();
  start = await sandbox.snapshot();
});

test("every write of the served description is walked here", async () => {
  const { urls } = sandbox.description;
  const { paths } = described.parse(await (await fetch(`${urls.api}/v1/routing/openapi.json`)).json());
  const ids = Object.values(paths).flatMap(({ post }) => (post === undefined ? [] : [post.operationId]));
  expect(Object.keys(writes).sort()).toEqual(ids.sort());
});

describe.each(Object.entries(writes))("%s", (operation, prepare) => {
  let due: Snapshot;
  let post: () => Promise<{ status: number; text: string }>;
  let postOnce: typeof post;
  let once: { status: number; text: string };
  let effect: unknown;

  beforeAll(async () => {
    await start.restore();
    const { urls, accounts } = sandbox.description;
    const [account] = accounts;
    const { path, body, headers } = await prepare(sandbox);
    const bearer =
      operation === "issueAccess"
        ? account?.key
        : (await requestAccess(urls.api, account?.key ?? "", fetch)).credential;
    // Waits for nothing: what it resends comes at the same time of the chain as in a run without a fault.
    const client = createApiClient(urls.api, bearer, { wait: async () => {} });
    const postBy = async ({ request }: Pick<typeof client, "request">) => {
      const answer = await request("post", path as "/v1/routing/access", {
        body: body as object,
        bodySerializer: (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value)),
        headers: { "Idempotency-Key": "every-write-0001", ...headers },
        parseAs: "text",
      });
      const { response, data = "" } = answer;
      return { status: response.status, text: String(data) };
    };
    post = async () => await postBy(client.retrying);
    postOnce = async () => await postBy(client);
    due = await sandbox.snapshot();
    once = await post();
    effect = await effectOf(operation);
    expect(once.status).toBeLessThan(202);
  });

  test.each(["refuse", "rpc_error"] as const)(
    "the node fails at any one call of the API (%s): 503 unless another read replaces it, and the same request continues",
    async (action) => {
      const rpc = { layer: "rpc", match: { caller: "api" } } as const;
      const answered = new Set<number>();
      for (let calls = 0; ; calls += 1) {
        await due.restore();
        // Lets so many calls pass.
        if (calls > 0) await sandbox.faults.set({ ...rpc, action: "delay", delay_ms: 1, count: calls });
        await sandbox.faults.set({ ...rpc, action, count: 1 });
        const { status } = await postOnce();
        if (sandbox.faults.list().at(-1)?.hits === 0) {
          expect(status).toBe(once.status);
          expect([...answered].filter((one) => one !== once.status)).toEqual([503]);
          return;
        }
        // A read that fails at the block that was expected is repeated at the newest one; the receiver, too, is asked again.
        answered.add(status);
        expect((await post()).status).toBe(once.status);
      }
    },
    60_000,
  );

  test.each(faults)(
    "$action at $point: one effect, and one answer to the byte",
    async ({ action, point }) => {
      await due.restore();
      const fault = { layer: "api", point, action, match: { operation } } as FaultRequest;
      await sandbox.faults.set(action === "delay" ? { ...fault, delay_ms: 5 } : fault);
      const answer = await post();
      expect(sandbox.faults.list()).toMatchObject([{ hits: 1, remaining: 0 }]);
      if (operation === "issueAccess" && point === "after_commit" && action !== "delay") {
        // It takes no key: a repeat issues another credential and revokes the one whose answer was lost.
        expect(JSON.parse(answer.text)).toMatchObject({
          revoked_credential_id: JSON.parse(once.text).credential_id,
        });
        return;
      }
      expect(answer).toEqual(once);
      expect(await effectOf(operation)).toEqual(effect);
      if (operation === "issueAccess") return;
      expect(await post()).toEqual(answer);
      expect(await effectOf(operation)).toEqual(effect);
    },
  );
});

/**
 * Everything that a write has changed: the records, the events, the relayer's journal and the chain. A duplicate of an event is counted in
 * its receipt.
 */
async function effectOf(operation: string): Promise<unknown> {
  if (operation !== "receiveNotification") return await sandbox.fingerprint();
  const { block } = await sandbox.fingerprint();
  const receipts = await sandbox.store.list("receipts", {});
  return {
    block,
    receipts: receipts.map(({ key, value: { deliveries: _, ...receipt } }) => ({ key, receipt })),
  };
}
