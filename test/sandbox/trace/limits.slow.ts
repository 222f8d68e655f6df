import { expect, test } from "vitest";
import { traceLimits } from "../../../sandbox/trace/collect-answers.ts";
import { controlSandbox } from "../../kit/control.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("a trace has the newest blocks up to its limit and says before which one they are left out", async () => {
  const { description, chain } = await freshSandbox();
  const trace = async () => await (await fetch(`${description.urls.control}/trace`)).text();
  expect(await trace()).not.toContain("Left out");
  await controlSandbox(description, "POST", "/blocks", { blocks: traceLimits.items + 50 });
  const newest = Number(await chain.client.getBlockNumber());
  const text = await trace();
  expect(text).toContain(`Left out\nThe blocks before block ${newest - traceLimits.items + 1} are left out.`);
  expect(text).toContain(`Block ${newest} was mined, empty.`);
});
