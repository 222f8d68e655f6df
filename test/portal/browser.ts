import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { RunOptions } from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { launchChromium } from "../../scripts/launch-chromium.ts";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A Chromium for the tests of one file. */
export interface TestBrowser extends AsyncDisposable {
  /**
   * Opens an empty page in a browser that remembers nothing but its cache, and closes it when the test is over. The test fails when the page
   * asks anyone but its origins for anything, logs an error, breaks its Content-Security-Policy or leaves an error unhandled.
   */
  open(options?: PageOptions): Promise<Page>;
}

/** The options of opening a page. */
export interface PageOptions {
  /** The only ones that the page may reach; those that the browser was opened for by default. */
  origins?: readonly string[];
  /** The size of what is seen, in CSS pixels; a desktop's by default. */
  viewport?: { width: number; height: number };
  /** The permissions that the person grants, as `clipboard-read`. */
  permissions?: readonly string[];
  /** Console errors that the test brings about on purpose, as "Failed to load resource: … 422". */
  expectedErrors?: RegExp;
  /** Runs before the page's own scripts, as a wallet's extension does. */
  prepare?: (page: Page) => Promise<void>;
}

/**
 * Starts Chromium with a profile and a home of its own.
 *
 * @param origins - of the sandbox: the only ones that pages may reach.
 * @example
 * browser = await openBrowser(Object.values(sandbox.description.urls));
 * const page = await browser.open({ viewport: { width: 390, height: 844 } });
 */
export async function openBrowser(origins: readonly string[]): Promise<TestBrowser> {
  const chromium = await launchChromium();
  const context = await chromium.browser.newContext({ reducedMotion: "reduce" });
  context.setDefaultTimeout(12_000);
  // Keeps the window open: a page that needs a new one takes half as long again.
  await context.newPage();
  return {
    open: async (options) => await openPage(context, { origins, ...options }),
    [Symbol.asyncDispose]: async () => await chromium[Symbol.asyncDispose](),
  };
}

async function openPage(
  context: BrowserContext,
  options: PageOptions & { origins: readonly string[] },
): Promise<Page> {
  const { origins, viewport, permissions = [], expectedErrors, prepare } = options;
  await context.grantPermissions([...permissions]);
  const page = await context.newPage();
  if (viewport !== undefined) await page.setViewportSize(viewport);
  const faults: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    const own = url.protocol === "data:" || origins.includes(url.origin);
    if (!own) faults.push(`asked ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() !== "error" || expectedErrors?.test(message.text())) return;
    faults.push(`logged ${message.text()} (${message.location().url})`);
  });
  /** The bodies of refusals, which a failing test shows: the browser logs only their status. */
  const refusals: string[] = [];
  page.on("response", (response) => {
    if (response.status() < 400) return;
    const read = response.text().then((text) => refusals.push(`${response.url()} returned ${text}`));
    read.catch(() => undefined);
  });
  page.on("pageerror", (error) => faults.push(`threw ${error.stack ?? error.message}`));
  onTestFinished(async () => {
    if (page.url() !== "about:blank") await page.evaluate(() => localStorage.clear());
    await page.close();
    await context.clearPermissions();
    expect(faults, ["what the page did wrong", ...refusals].join("\n")).toEqual([]);
  });
  await prepare?.(page);
  return page;
}

/** The part of a page that is checked. */
export interface Checked {
  /** A selector; the whole page by default. */
  within?: string;
}

/** Returns axe's findings about a page as it is now, each with its elements. */
export async function accessibilityFaults(page: Page, checked: Checked = {}): Promise<string[]> {
  return await runAxe(page, checked, {});
}

/** Returns the texts of a page with too little contrast. This suffices if only the colors differ from a page that was checked completely. */
export async function contrastFaults(page: Page, checked: Checked = {}): Promise<string[]> {
  return await runAxe(page, checked, { runOnly: ["color-contrast"] });
}

async function runAxe(page: Page, { within = "html" }: Checked, options: RunOptions): Promise<string[]> {
  // Evaluated over the debugging protocol, which a Content-Security-Policy does not bind, and only once for each document.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  await page.evaluate(awaitTransitions);
  const { violations } = await page.evaluate(
    async ([selector, given]) => await window.axe.run(selector, { ...given, resultTypes: ["violations"] }),
    [within, options] as const,
  );
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
  );
}

/** Waits in a page until no color is on its way to another one, as after a change of the color scheme. */
async function awaitTransitions(): Promise<void> {
  const ending = document
    .getAnimations()
    .filter(({ effect }) => Number.isFinite(Number(effect?.getComputedTiming().endTime)));
  await Promise.allSettled(ending.map(async ({ finished }) => await finished));
}

declare global {
  interface Window {
    axe: typeof import("axe-core");
  }
}
