import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import type { TestKit } from "./test-kit.ts";

/**
 * Shares one sandbox among the tests of a file: each of them starts from what was prepared, with a new credential.
 *
 * @param prepare - opens the kit and makes what every test starts from.
 * @example
 * let kit: TestKit;
 * resetBeforeEach(async () => {
 *   kit = await TestKit.open({ seed: "refunds" });
 *   return kit;
 * });
 */
export function resetBeforeEach(prepare: () => Promise<TestKit>): void {
  let kit: TestKit | undefined;
  let start: Snapshot | undefined;
  beforeAll(async () => {
    kit = await prepare();
    start = await kit.sandbox.snapshot();
  });
  beforeEach(async () => {
    await start?.restore();
    await kit?.renew();
  });
  afterAll(async () => await kit?.[Symbol.asyncDispose]());
}
