import { afterAll, beforeAll, beforeEach } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";

/**
 * Shares a sandbox and a browser that looks at its pages among the tests of a file: each of them starts from what was prepared.
 *
 * @param prepare - makes what every test starts from.
 * @example
 * let kit: ExplorerKit;
 * sharePages("explorer page", (sandbox, browser) => {
 *   kit = new ExplorerKit(sandbox, browser);
 * });
 */
export function sharePages(
  seed: string,
  prepare: (sandbox: Sandbox, browser: TestBrowser) => void | Promise<void>,
): void {
  let shared: { sandbox: Sandbox; browser: TestBrowser; start: Snapshot } | undefined;
  beforeAll(async () => {
    const sandbox = await createSandbox({ seed });
    const browser = await openBrowser(Object.values(sandbox.description.urls));
    await prepare(sandbox, browser);
    shared = { sandbox, browser, start: await sandbox.snapshot() };
  });
  beforeEach(async () => await shared?.start.restore());
  afterAll(async () => {
    await shared?.browser[Symbol.asyncDispose]();
    await shared?.sandbox.close();
  });
}
