import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { registrarGeneses } from "../../../sandbox/chain/genesis/genesis-cache.ts";
import { copyCheckout } from "../../setup/copied-checkout.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const answer = z.object({
  findings: z.array(
    z.strictObject({ check: z.string(), ok: z.boolean(), found: z.string(), remedy: z.string().nullable() }),
  ),
});

async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  return portOf(server);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has an address.");
  return address.port;
}

test("on a broken machine, doctor names each problem with its remedy, and exits with 1", {
  timeout: 60_000,
}, async () => {
  const checkout = await copyCheckout(await temporaryFolder());
  await cp(join(root, "portal"), join(checkout, "portal"), { recursive: true });
  // Its packages are this checkout's, but for Anvil's binary; its prepared chain is torn.
  await rm(join(checkout, "node_modules"));
  await mkdir(join(checkout, "node_modules", "@foundry-rs"), { recursive: true });
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "@foundry-rs")
      await symlink(join(root, "node_modules", name), join(checkout, "node_modules", name));
  const anvil = join("node_modules", "@foundry-rs", "anvil");
  await cp(join(root, anvil), join(checkout, anvil), { recursive: true });
  await cp(join(root, ".genesis"), join(checkout, ".genesis"), { recursive: true });
  const geneses = (await readdir(join(checkout, ".genesis"))).filter((name) => name !== registrarGeneses);
  for (const key of geneses) {
    const file = join(checkout, ".genesis", key, "state.json");
    await writeFile(file, (await readFile(file)).subarray(0, 1_000));
  }
  const port = await occupiedPort();
  // Where not even root may write.
  const args = ["doctor", "--json", "--data-dir", "/sys/routing-sandbox", "--api-port", String(port)];
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string }>();
  // A package that may not write into its own folder has a prepared chain in the one for temporary files.
  const env = { ...process.env, TMPDIR: await temporaryFolder() };
  execFile(process.execPath, [join(checkout, "cli", "main.ts"), ...args], { env }, (error, stdout) =>
    resolve({ code: error?.code, stdout }),
  );
  const { code, stdout } = await promise;
  expect(code).toBe(1);
  const problems = answer.parse(JSON.parse(stdout)).findings.filter(({ ok }) => !ok);
  const found = Object.fromEntries(problems.map((one) => [one.check, one]));
  expect(found["Anvil"]).toMatchObject({
    found: expect.stringContaining("is not installed"),
    remedy: expect.stringContaining("Remove node_modules and run node scripts/setup.mjs"),
  });
  expect(found["prepared chain"]).toMatchObject({
    found: "It is missing, damaged, or was built with other contracts or another Anvil.",
    remedy: "To build the prepared chain again, run node scripts/setup.mjs.",
  });
  expect(found["data directory"]).toMatchObject({
    found: expect.stringContaining("/sys/routing-sandbox cannot be written to"),
    remedy: expect.stringContaining("--data-dir"),
  });
  expect(found[`port ${port} (--api-port)`]).toMatchObject({
    found: expect.stringContaining(`Process ${process.pid} (`),
    remedy: "End that process, or choose another port with --api-port, or 0 for any free port.",
  });
});
