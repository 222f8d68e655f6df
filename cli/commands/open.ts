import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Command } from "commander";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { print } from "../print.ts";
import { jsonOption, type SandboxFlags } from "../shared-options.ts";

/** `routing-sandbox open <trace>`: shows a trace in a browser. */
export function openCommand(): Command {
  return new Command("open")
    .description(
      "open a trace in a browser, and print its URL; the environment variable BROWSER chooses the browser",
    )
    .argument("<trace>", "the trace, such as traces/checkout.trace.html")
    .addOption(jsonOption())
    .action(async (file: string, { json }: Pick<SandboxFlags, "json">) => {
      await requireTrace(file);
      const url = pathToFileURL(resolve(file)).href;
      const isOpened = await startBrowser(url);
      print(
        { json },
        { url, opened: isOpened },
        isOpened ? url : `${url}\nNo browser could be started. Open this URL in a browser.`,
      );
    });
}

/** @throws Error unless the file is a trace. */
async function requireTrace(file: string): Promise<void> {
  const handle = await open(file).catch((error: unknown) => {
    throw new Error(
      `The trace ${file} cannot be read: ${describeFileError(error)}. Name a file that ends in .trace.html.`,
    );
  });
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0).finally(() => handle.close());
  if (!buffer.subarray(0, bytesRead).toString().toLowerCase().startsWith("<!doctype html"))
    throw new Error(`${file} is not a trace. Name a file that ends in .trace.html.`);
}

/** Starts a browser that outlives this process; false when there is none. */
async function startBrowser(url: string): Promise<boolean> {
  const usual = process.platform === "darwin" ? "open" : "xdg-open";
  const browser = spawn(process.env["BROWSER"] || usual, [url], { detached: true, stdio: "ignore" });
  return await new Promise((settle) => {
    browser.once("spawn", () => settle(true)).once("error", () => settle(false));
    browser.unref();
  });
}
