import { Option } from "commander";
import type { Log } from "../../server/http/services.ts";
import type { Terminal } from "../terminal.ts";

const logLevels = ["silent", "error", "info"] as const;
const logFormats = ["json", "text"] as const;

/** The options of the log of a sandbox. */
export interface LogFlags {
  readonly logLevel?: (typeof logLevels)[number];
  readonly logFormat?: (typeof logFormats)[number];
}

/** `--log-level <level>`: the lines that a sandbox writes to standard error. */
export function logLevelOption(): Option {
  return new Option(
    "--log-level <level>",
    "the lines that are logged to standard error; info has a line for each request",
  )
    .choices(logLevels)
    .default("error");
}

/** `--log-format <format>`: the form of these lines. */
export function logFormatOption(): Option {
  return new Option("--log-format <format>", "the form of the logged lines: one JSON object each, or text")
    .choices(logFormats)
    .default("json");
}

/** Opens the log of a sandbox, on standard error. Credentials and signatures are never logged. */
export async function openLog(
  { stderr }: Terminal,
  { logLevel = "error", logFormat = "json" }: LogFlags,
): Promise<Log> {
  const { pino } = await import("pino");
  const redact = ["req.headers.authorization", "signature"];
  const output = logFormat === "json" ? stderr : { write: (line: string) => stderr.write(asText(line)) };
  const log: Log = pino({ level: logLevel, redact }, output);
  return log;
}

/** The names of pino's levels that a sandbox uses. */
const levelNames = new Map([
  [30, "info"],
  [50, "error"],
]);

/** Returns a line of JSON as text: time, level and message, then the other fields. */
function asText(line: string): string {
  const { time, level, msg, pid: _pid, hostname: _host, ...fields } = JSON.parse(line);
  const others = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`);
  return `${new Date(time).toISOString()} ${levelNames.get(level)} ${msg}${others.join("")}\n`;
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
