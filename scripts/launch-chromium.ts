import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./test-programs.ts";

/**
 * Parts of Chromium that pages have no use for. The popups of its address bar load two hundred scripts for every new window, which is half of
 * what opening a page costs; the others are those that Playwright turns off, because Chromium uses only the last list that it is given.
 */
const disabledFeatures = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/** The flags that keep Chromium quiet and running on a closed network, also as root. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  // Pages follow each other: a process for each is a tenth of what opening it costs.
  "--renderer-process-limit=1",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${disabledFeatures.join(",")}`,
  "--host-resolver-rules=MAP sandbox.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/** A running Chromium. */
export interface LaunchedChromium extends AsyncDisposable {
  browser: Browser;
}

/**
 * Starts the installed Chromium with a profile and a home of its own, which are gone afterwards.
 *
 * @throws Error when there is none; the message says what to do.
 */
export async function launchChromium(): Promise<LaunchedChromium> {
  const executablePath = findChromium(process.env);
  if (executablePath === undefined)
    throw new Error("There is no Chromium; install it, or let CHROMIUM_PATH name one.");
  const home = await mkdtemp(join(tmpdir(), "routing-sandbox-chromium-"));
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
  const browser = await chromium.launch({ executablePath, args: flags, env });
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
