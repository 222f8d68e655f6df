import { afterAll, beforeAll, expect, test } from "vitest";
import { Stage } from "../api/stage.ts";
import { accessibilityFaults, openBrowser, type TestBrowser } from "./browser.ts";

let stage: Stage;
let browser: TestBrowser;

beforeAll(async () => {
  stage = await Stage.open({ seed: "wallet page" });
  browser = await openBrowser(Object.values(stage.sandbox.description.urls));
});

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

test("axe finds nothing", async () => {
  const merchant = await stage.createMerchant();
  const page = await browser.open();
  await page.goto(merchant.wallet_url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});
