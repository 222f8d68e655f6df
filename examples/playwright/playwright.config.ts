import { defineConfig } from "@playwright/test";

// By default the browser that `npx playwright install chromium` downloads.
const executablePath = process.env.CHROMIUM_PATH;

export default defineConfig({
  fullyParallel: true,
  use: { launchOptions: executablePath === undefined ? {} : { executablePath } },
});
