import { expect, test } from "vitest";
import { requestPageSizes } from "../../../sandbox/activity/read-requests.ts";
import { traceLimits } from "../../../sandbox/trace/collect-answers.ts";
import { controlSandbox } from "../../kit/control.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("a trace has the newest requests up to its limit and says that the oldest are left out", async () => {
  const { urls } = (await freshSandbox()).description;
  for (let sent = 0; sent <= traceLimits.items + requestPageSizes.most; sent += 1)
    await (await fetch(`${urls.api}/v1/routing/capabilities`)).text();
  const text = await (await fetch(`${urls.control}/trace`)).text();
  expect(text).toContain("Left out\nThe oldest requests are left out.");
});

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
