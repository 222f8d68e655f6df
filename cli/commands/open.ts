import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { fileKind } from "../../server/lib/file-kind.ts";
import { jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

/** `routing-sandbox open <trace>`: shows a trace in a browser. */
export function openCommand(terminal: Terminal): Command {
  return newCommand(terminal, "open")
    .description(
      "open a trace in a browser, and print its URL; the environment variable BROWSER chooses the browser; without a browser, print the path of the trace",
    )
    .argument("<trace>", "the trace, such as traces/checkout.trace.html")
    .addOption(jsonOption())
    .action(async (file: string, { json }: Pick<SandboxFlags, "json">) => {
      await requireTrace(file);
      const path = resolve(file);
      const url = pathToFileURL(path).href;
      const isOpened = await startBrowser(url);
      const instead = `No browser could be started for ${path}. Open this file in a browser, on another machine if this one has no desktop.`;
      print(terminal, { json }, { url, file: path, opened: isOpened }, isOpened ? url : `${url}\n${instead}`);
    });
}

/** @throws Error unless the file is a trace. */
async function requireTrace(file: string): Promise<void> {
  // A pipe would be read without end.
  if ((await fileKind(file)) === "other")
    throw new Error(`${file} is not a file. Name a file that ends in .trace.html.`);
  const handle = await open(file).catch((error: unknown) => {
    throw new Error(
      `The trace ${file} cannot be read: ${describeFileError(error)}. Name a file that ends in .trace.html.`,
    );
  });
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0).finally(() => handle.close());
  if (!buffer.subarray(0, bytesRead).toString().toLowerCase().startsWith("<!doctype html"))
    throw new Error(`${file} is not a trace. Name a file that ends in .trace.html.`);
}

/** The longest time to wait for the exit code of a launcher such as xdg-open. A browser that still runs then has opened the trace. */
const launchMs = 2_000;

/** Starts a browser that outlives this process; false if there is none, or if it ends with an error, as xdg-open does without a desktop. */
async function startBrowser(url: string): Promise<boolean> {
  const usual = process.platform === "darwin" ? "open" : "xdg-open";
  const browser = spawn(process.env["BROWSER"] || usual, [url], { detached: true, stdio: "ignore" });
  return await new Promise((settle) => {
    const stillRuns = setTimeout(() => settle(true), launchMs);
    const end = (isOpened: boolean) => {
      clearTimeout(stillRuns);
      settle(isOpened);
    };
    browser.once("exit", (code) => end(code === 0)).once("error", () => end(false));
    browser.unref();
  });
}
