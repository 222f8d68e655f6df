import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { processesWith } from "../../../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../../../sandbox/options/description.ts";
import { cli } from "../../../cli/program.ts";

/** A pool in a process of its own, as a person starts it. */
export interface StartedPool extends AsyncDisposable {
  url: string;
  /** Resolves when so many sandboxes are free. */
  free(count: number): Promise<void>;
  /** Kills every Anvil of the pool's that serves the sandbox. */
  killAnvilOf(sandbox: SandboxDescription): Promise<void>;
  /** Sends a signal to every Anvil of the pool's, and to nothing else. */
  signalAnvils(signal: "SIGKILL" | "SIGSTOP"): Promise<void>;
  /** Resolves when the status of the pool is as wanted. */
  until(isWanted: (status: PoolStatus) => boolean): Promise<void>;
  status(): Promise<PoolStatus>;
  end(signal: NodeJS.Signals): Promise<void>;
  /** Returns the processes and files that the pool and its children have left. */
  left(): Promise<string[]>;
}

interface PoolStatus {
  free: number;
  leased: number;
  waiting: number;
  metrics: { [name: string]: number };
}

/** Starts `routing-sandbox pool` on a free port. */
export async function startPool(...options: string[]): Promise<StartedPool> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  const child = spawn(process.execPath, [cli, "pool", "--port", "0", "--json", ...options], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  const { url } = JSON.parse(String(line));
  const processes = async () => await processesWith("TMPDIR", folder);
  const status = async (): Promise<PoolStatus> => JSON.parse(await (await fetch(url)).text());
  const until = async (isWanted: (status: PoolStatus) => boolean) => {
    while (!isWanted(await status())) await pause(10);
  };
  return {
    url,
    status,
    until,
    free: async (count) => await until(({ free }) => free >= count),
    async signalAnvils(signal) {
      const anvils = (await processes()).filter(({ command }) => /\/anvil(?:\0|\s|$)/.test(command));
      expect(anvils.length).toBeGreaterThan(0);
      for (const { pid } of anvils) process.kill(pid, signal);
    },
    async killAnvilOf(sandbox) {
      const anvils = (await processes()).filter(({ command }) => command.includes("anvil"));
      expect(anvils.length, sandbox.urls.rpc).toBeGreaterThan(0);
      const [first] = anvils;
      if (first !== undefined) process.kill(first.pid, "SIGKILL");
    },
    async end(signal) {
      child.kill(signal);
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true });
    },
    left: async () => {
      while (child.signalCode === "SIGKILL" && (await processes()).length > 0) await pause(10);
      return [...(await readdir(folder)), ...(await processes()).map(({ command }) => command)];
    },
  };
}

/** A lease as its request is answered. */
export interface Leased {
  id: string;
  sandbox: SandboxDescription;
  expires_at: string;
}

/** Leases a sandbox. */
export async function leaseOf({ url }: Pick<StartedPool, "url">): Promise<Leased> {
  const response = await fetch(`${url}/leases`, { method: "POST" });
  expect(response.status).toBe(201);
  return JSON.parse(await response.text());
}

/** Returns the status of the health of a sandbox, and that of a request to its API; of a refusal, what it says. */
export async function healthOf({ sandbox: { urls } }: Leased): Promise<(number | string)[]> {
  const asked = [`${urls.control}/health`, `${urls.api}/v1/routing/capabilities`].map(async (url) => {
    const response = await fetch(url);
    const text = await response.text();
    return response.ok ? response.status : text;
  });
  return await Promise.all(asked);
}
