/**
 * Writes docs/screenshots/*.webp: the pages of a sandbox that is the same in every run, each at a moment worth seeing.
 *
 * Usage: npx node scripts/screenshots.ts
 */
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { createSandbox, type Sandbox } from "../sandbox/create-sandbox.ts";
import { silentPrinter } from "../testkit/demo/printer.ts";
import { runDemo } from "../testkit/demo/run-demo.ts";
import { launchChromium } from "./launch-chromium.ts";

const folder = fileURLToPath(new URL("../docs/screenshots", import.meta.url));
const desk: BrowserContextOptions = { viewport: { width: 900, height: 720 } };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 780 }, colorScheme: "dark" };

/** Lower ones blur text. */
const quality = 64;

interface Shot {
  name: string;
  url: string;
  on: BrowserContextOptions;
  /** Brings the page to the moment. */
  prepare: (page: Page) => Promise<void>;
}

async function untilLive(page: Page): Promise<void> {
  await page.getByText("live", { exact: true }).waitFor();
  await page.locator('main[aria-busy="false"]').waitFor();
}

/** Scrolls to the timeline of a purchase. */
async function showTimeline(page: Page): Promise<void> {
  await untilLive(page);
  const course = page.getByRole("region", { name: "What happened" });
  await course.evaluate((section) => {
    section.scrollIntoView();
    // Below the menu, which stays at the top.
    section.ownerDocument.defaultView?.scrollBy(0, -150);
  });
}

async function planShots(sandbox: Sandbox): Promise<Shot[]> {
  const { client, given, description } = sandbox;
  const program = description.accounts[0]?.program ?? "";
  const { merchant } = await given.merchant({
    state: "pending",
    wallet: "other_merchant",
    name: "Night Market",
    cap: "500000000",
  });
  const { data: relayed } = await client.GET("/v1/routing/programs/{program}/transactions", {
    params: { path: { program } },
  });
  const sold = relayed?.data.find(({ kind }) => kind === "offer")?.subject.id ?? "";
  const { purchase } = await given.purchase({
    state: "active",
    beneficiary: "buyer",
    amount: "48500000",
    terms: { sku: "course-7" },
  });
  const withTestKeys = async (page: Page) => {
    await page.getByRole("button", { name: "Test keys" }).click();
    await page.getByText("keys that are public").waitFor();
  };
  return [
    { name: "wallet-merchant", url: merchant.wallet_url, on: desk, prepare: withTestKeys },
    {
      name: "wallet-purchase",
      url: purchase.wallet_url,
      on: phone,
      prepare: async (page) => {
        await withTestKeys(page);
        await page.getByRole("button", { name: "Approve" }).click();
        const pay = page.locator("#action-pay");
        await pay.getByRole("button", { name: "Pay" }).waitFor();
        await pay.evaluate((section) => section.scrollIntoView());
      },
    },
    { name: "explorer", url: description.urls.control, on: desk, prepare: untilLive },
    {
      name: "explorer-timeline",
      url: `${description.urls.control}/#/purchases/${sold}`,
      on: { ...desk, colorScheme: "dark" },
      prepare: showTimeline,
    },
  ];
}

await mkdir(folder, { recursive: true });
await using sandbox = await createSandbox({ seed: "screenshots", mode: "deterministic" });
await runDemo(sandbox.description, silentPrinter);
await using chromium = await launchChromium();
for (const { name, url, on, prepare } of await planShots(sandbox)) {
  const page = await chromium.browser.newPage({ reducedMotion: "reduce", ...on });
  // The one thing on these pages that chance decides.
  await page.addInitScript(() => {
    crypto.randomUUID = () => "9f1c2b1e-6a0f-4a51-9d3e-0f6a2f1c7b10";
  });
  await page.goto(url);
  await prepare(page);
  const protocol = await page.context().newCDPSession(page);
  // A quarter of the size of PNG, so that the package has room for them.
  const { data } = await protocol.send("Page.captureScreenshot", { format: "webp", quality });
  await page.close();
  const picture = Buffer.from(data, "base64");
  await writeFile(`${folder}/${name}.webp`, picture);
  console.log(`docs/screenshots/${name}.webp, ${Math.ceil(picture.length / 1024)} KB`);
}
