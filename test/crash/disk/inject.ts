/**
 * Is loaded before a program (`node --import`): counts what the program does to files in one folder, and has one of these operations fail.
 * It knows node's functions for files and nothing of the program.
 */
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { DiskFault } from "./fault.ts";

type Operation = (this: unknown, ...given: unknown[]) => Promise<unknown>;

const { DISK_FAULT: given = "null" } = process.env;
const fault: DiskFault | null = JSON.parse(given);
const handles = new WeakMap<object, string>();
let count = 0;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function isInside(path: unknown): boolean {
  return fault !== null && String(path).startsWith(fault.folder);
}

/** Returns the bytes of a write, if the operation was one. */
function bytesOf(name: string, first: unknown): Buffer | null {
  if (!/^(write|append)/.test(name)) return null;
  if (typeof first === "string") return Buffer.from(first);
  return first instanceof Uint8Array ? Buffer.from(first) : null;
}

function refusal(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: injected, ${name}`), { code, syscall: name, errno: -1 });
}

/** Does one operation, or what the fault has of it. */
async function meet(
  name: string,
  half: (() => void) | null,
  operation: () => Promise<unknown>,
): Promise<unknown> {
  count += 1;
  if (fault === null || count !== fault.at) return await operation();
  switch (fault.kind) {
    case "killed before":
      return die();
    case "killed after":
      await operation();
      return die();
    case "killed half way":
      half?.();
      return die();
    default:
      half?.();
      throw refusal(fault.kind, name);
  }
}

function wrap(target: { [name: string]: unknown }, name: string, isHandle: boolean): void {
  const original = target[name] as Operation;
  target[name] = async function (this: FileHandle, ...args: unknown[]) {
    const path = isHandle ? handles.get(this) : args[0];
    if (!isInside(path)) return await original.apply(this, args);
    const bytes = isHandle ? bytesOf(name, args[0]) : null;
    const half =
      bytes === null ? null : () => void fs.writeSync(this.fd, bytes.subarray(0, bytes.length / 2));
    return await meet(name, half, async () => await original.apply(this, args));
  };
}

const open = promises.open as (...args: unknown[]) => Promise<FileHandle>;
const sample = await open("/dev/null");
const prototype: { [name: string]: unknown } = Object.getPrototypeOf(sample);
await sample.close();
for (const name of ["write", "writeFile", "appendFile", "sync", "datasync", "truncate"])
  wrap(prototype, name, true);
const functions = promises as unknown as { [name: string]: unknown };
for (const name of ["rename", "rm", "mkdir", "writeFile", "unlink", "rmdir"]) wrap(functions, name, false);
functions["open"] = async (...args: unknown[]) => {
  const [path, flags = "r"] = args;
  const opened = async () => {
    const handle = await open(...args);
    handles.set(handle, String(path));
    return handle;
  };
  return isInside(path) && flags !== "r" ? await meet("open", null, opened) : await opened();
};
syncBuiltinESMExports();
process.once("exit", () => {
  if (fault?.report !== undefined) fs.writeFileSync(fault.report, String(count));
});
