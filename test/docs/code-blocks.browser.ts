import { expect, test } from "vitest";
import { launchChromium } from "../../scripts/launch-chromium.ts";
import { createExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";
import { codeBlocks, runBlock } from "./code-blocks.ts";

const blocks = codeBlocks().filter(
  ({ place, language }) => place.startsWith("browser.md:") && language === "ts",
);

test.each(blocks)("the code of $place runs as it is written", async ({ code }) => {
  await using sandbox = await createExplorableSandbox({ seed: "docs" });
  await using chromium = await launchChromium();
  const page = await chromium.browser.newPage();
  await runBlock(code, { sandbox, page, expect });
  expect(await sandbox.clock.now()).toBeGreaterThan(0);
});
