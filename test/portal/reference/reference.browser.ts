import { expect, test } from "vitest";
import { TestKit } from "../../kit/test-kit.ts";
import { accessibilityFaults, contrastFaults, type TestBrowser } from "../browser.ts";
import { sharePages } from "../share-pages.ts";

let kit: TestKit;
let browser: TestBrowser;

sharePages("reference", async (sandbox, opened) => {
  browser = opened;
  kit = await TestKit.of(sandbox);
});

// Swagger UI is 1.7 MB of script, which two busy cores take seconds to run.
const slowLoad = { timeout: 60_000 };

test(
  "a person authorizes and creates a merchant in the reference, whose key is filled in",
  slowLoad,
  async () => {
    const page = await browser.open({ viewport: { width: 390, height: 844 } });
    await page.goto(`${kit.sandbox.description.urls.docs}/reference/`);
    expect(page.url()).toBe(`${kit.base}/reference/`);
    const other = page.getByRole("link", { name: "Documentation host 0.2.0" });
    expect(await other.getAttribute("href")).toBe("/reference/?of=documentation");
    const { docs } = kit.sandbox.description.urls;
    for (const path of ["/portal/docs.md", "/errors"])
      await page.locator(`.renderedMarkdown a[href="${docs}${path}"]`).waitFor();
    await page.getByRole("button", { name: "Authorize", exact: true }).click();
    const form = page.locator(".auth-container", { hasText: "credential (http" });
    await form.getByRole("textbox").fill(kit.credential);
    expect(await accessibilityFaults(page, { within: ".dialog-ux" })).toEqual([]);
    await form.getByRole("button", { name: "Authorize" }).click();
    expect(await accessibilityFaults(page, { within: ".dialog-ux" })).toEqual([]);
    await page.getByRole("button", { name: "Close" }).first().click();
    const block = page.locator('[id$="-createMerchant"]');
    await block.locator(".opblock-summary-control").click();
    await block.getByRole("button", { name: "Try it out" }).click();
    const key = await block.getByPlaceholder("Idempotency-Key").inputValue();
    await block.getByRole("button", { name: "Execute" }).click();

    const answer = block.locator(".live-responses-table");
    await answer.locator(".response-col_status", { hasText: "201" }).waitFor();
    const created = JSON.parse((await answer.locator("pre").first().textContent()) ?? "");

    expect(created).toMatchObject({ name: "Corner Books", status: "pending" });
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    expect(await accessibilityFaults(page, { within: ".opblock.is-open" })).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  },
);

test(
  "the documentation host's description is there, too, and its resources can be tried",
  slowLoad,
  async () => {
    const page = await browser.open();
    await page.goto(`${kit.base}/reference/?of=documentation`);
    const block = page.locator('[id$="-previewCapabilities"]');
    await block.locator(".opblock-summary-control").click();
    await block.getByRole("button", { name: "Try it out" }).click();
    await block.getByRole("button", { name: "Execute" }).click();
    await block.locator(".live-responses-table").getByText("200", { exact: true }).waitFor();
    expect(await page.locator(".opblock").count()).toBe(6);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    // The page's script follows the color scheme in the next frame.
    await page.locator("html.dark-mode").waitFor();
    expect(await contrastFaults(page)).toEqual([]);
  },
);

test("Back leads from an operation of the address to the page before", slowLoad, async () => {
  const page = await browser.open();
  const { docs } = kit.sandbox.description.urls;
  await page.goto(`${docs}/`);
  await page.goto(`${docs}/reference/#/webhooks/on.refund.collected`);
  await page.locator(".opblock.is-open").waitFor();
  await page.goBack();
  expect(page.url()).toBe(`${docs}/`);
});

test(
  "the dialog of Authorize starts at the account key, keeps the focus, and gives it back to its button",
  slowLoad,
  async () => {
    const page = await browser.open();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`${kit.sandbox.description.urls.docs}/reference/`);
    const button = page.locator(".auth-wrapper > button");
    await button.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Available authorizations" });
    const fields = ["account_key Value", "credential Value", "signed_event Value"];

    await page.keyboard.type("rsk_x");

    expect(await dialog.getByLabel("account_key Value", { exact: true }).inputValue()).toBe("rsk_x");
    for (const scheme of ["account_key", "credential", "signed_event"])
      expect(await dialog.getByRole("button", { name: `Close ${scheme}` }).count()).toBe(1);
    expect(await dialog.locator(".modal-ux-content").evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    for (const [index, name] of fields.entries()) {
      await dialog.getByText("Value:").nth(index).click();
      const field = dialog.getByRole("textbox", { name, exact: true });
      expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    }
    for (let steps = 0; steps < 15; steps += 1) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() =>
        [...document.querySelectorAll(":focus")].map((one) => ({
          within: one.closest("dialog") !== null,
          outline: getComputedStyle(one).outlineWidth,
        })),
      );
      for (const one of focused) expect(one).toEqual({ within: true, outline: "3px" });
    }
    await dialog.getByRole("textbox", { name: "account_key Value", exact: true }).press("Enter");
    await dialog.getByRole("button", { name: "Logout account_key" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await button.evaluate((opener) => opener === document.activeElement)).toBe(true);
  },
);
