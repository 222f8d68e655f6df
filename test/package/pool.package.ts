import { spawn } from "node:child_process";
import { once } from "node:events";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { processesWith } from "../../sandbox/lib/processes/processes.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type Consumer, installInto } from "./consumer.ts";

let project: Consumer;
beforeAll(async () => {
  project = await installInto();
});
afterAll(async () => await project[Symbol.asyncDispose]());

/** The Anvil that a platform's package of the project has. */
const anvil = () =>
  join(
    project.folder,
    "node_modules",
    "@foundry-rs",
    `anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`,
    "bin",
    "anvil",
  );

test("a lease whose sandbox can be neither reset nor replaced gets 503, and a sandbox again as soon as one can start", async () => {
  const { folder: cwd, env } = project;
  const folder = await temporaryFolder();
  const bin = join(cwd, "node_modules", ".bin", "routing-sandbox");
  const child = spawn(bin, ["pool", "--size", "1", "--port", "0", "--json"], {
    cwd,
    env: { ...env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const { url } = JSON.parse(String(line));
  const post = async (path: string) => {
    const response = await fetch(url + path, { method: "POST" });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const { body: lease } = await post("/leases");
  const restore = async () => await post(`/leases/${lease.id}/restore`);

  await rename(anvil(), `${anvil()}.away`);
  const running = (await processesWith("TMPDIR", folder)).filter(({ command }) =>
    command.startsWith(anvil()),
  );
  expect(running).toHaveLength(1);
  for (const { pid } of running) process.kill(pid, "SIGKILL");
  expect(await restore()).toMatchObject({
    status: 503,
    body: {
      code: "sandbox_unavailable",
      detail: "The sandbox of the lease could be neither reset nor replaced. Send the request again.",
    },
  });

  await rename(`${anvil()}.away`, anvil());
  const { status, body: replaced } = await restore();
  expect([status, replaced.id]).toEqual([200, lease.id]);
  expect(replaced.sandbox.urls.api).not.toBe(lease.sandbox.urls.api);
  expect((await fetch(`${replaced.sandbox.urls.control}/health`)).status).toBe(200);
});
