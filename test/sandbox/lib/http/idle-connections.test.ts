import { expect, test } from "vitest";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

test("a request after the process was blocked, as at a breakpoint, is answered on the connection that it had kept", {
  tags: "thorough",
}, async () => {
  const { urls } = (await freshSandbox()).description;
  const answer = async () => await (await fetch(`${urls.control}/health`)).text();
  const before = await answer();
  // Longer than an idle connection is kept.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_000);
  expect(await answer()).toBe(before);
});
