/**
 * The first view of the explorer's pages in Chromium, with 1,000 purchases of which 200 are on chain: from the navigation to the frame that
 * shows what was read, each in a new browser context without a cache. The pages are those of the package, which `npm run build` writes.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { maxUint256 } from "viem";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import type * as TestKit from "../../testkit/index.ts";
import { launchChromium } from "../launch-chromium.ts";
import type { Benchmark } from "./benchmark.ts";

const [created, paid] = [800, 200];

execFileSync(process.execPath, [join(packageRoot(), "scripts", "build.ts")], { stdio: ["ignore", 2, 2] });
const { createSandbox }: typeof TestKit = await import(join(packageRoot(), "dist", "testkit", "index.js"));
const opened = new AsyncDisposableStack();
const { browser } = opened.use(await launchChromium());
const sandbox = opened.use(await createSandbox({ seed: "bench", gasBudgetWei: maxUint256 }));
const { given, description } = sandbox;
for (let made = 0; made < created; made += 1) await given.purchase({ state: "created" });
for (let made = 0; made < paid; made += 1) await given.purchase({ state: "paid" });
const { purchase } = await given.purchase({ state: "refunded" });

/** A script that answers the time of the frame that shows an element: a look from outside would wait between its looks. */
const untilShown = (selector: string) => `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  while (document.querySelector(${JSON.stringify(selector)}) === null)
    if ((await frame()) > 10_000) throw new Error("The page has not been read within ten seconds.");
  await frame();
  return performance.now();
})()`;

/** The milliseconds from the navigation to the first frame with an element like that. */
async function firstView(url: string, selector: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "commit" });
    return Number(await page.evaluate(untilShown(selector)));
  } finally {
    await context.close();
  }
}

const read = 'main[aria-busy="false"]';
const view = (hash: string) => async () => await firstView(`${description.urls.control}/#/${hash}`, read);
const views = {
  overview: view(""),
  "a purchase": view(`purchases/${purchase.id}`),
  "the wallet page of a purchase": async () => await firstView(purchase.wallet_url, '[id^="action-"]'),
};

/** The benchmark `first-view`. */
export const benchmark: Benchmark = {
  title: "First view of the explorer and the wallet page with 1,000 purchases, in Chromium, without a cache",
  baseline: "a page of the documentation",
  rounds: 15,
  subjects: {
    "a page of the documentation": async () => await firstView(description.urls.docs, "h1"),
    ...views,
  },
  bars: Object.fromEntries(Object.keys(views).map((name) => [name, { noMoreThan: 200 }])),
  close: async () => await opened.disposeAsync(),
};
