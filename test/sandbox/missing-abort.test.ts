import { afterEach, expect, test, vi } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  ["removed", undefined],
  [
    "replaced",
    class {
      readonly signal = {};
      abort(): void {}
    },
  ],
])("a sandbox starts, serves and closes where AbortController and AbortSignal are %s", async (_, stub) => {
  vi.stubGlobal("AbortController", stub);
  vi.stubGlobal("AbortSignal", stub);
  const sandbox = await createSandbox();
  const snapshot = await sandbox.snapshot();
  const { purchase } = await sandbox.given.purchase({ state: "refunded" });
  expect(purchase.status).toBe("refunded");
  await snapshot.restore();
  await sandbox.close();
});
