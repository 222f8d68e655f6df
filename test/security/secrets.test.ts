import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { runDemo } from "../../testkit/demo/run-demo.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Every secret of a sandbox in each form in which it could be written down. */
function secretsOf({ description }: Sandbox): string[] {
  const { accounts, wallets, reviewers, receiver } = description;
  return [
    ...accounts.map(({ key }) => key),
    ...Object.values(wallets).flatMap(({ private_key }) => [
      private_key.slice(2),
      private_key.slice(2).toUpperCase(),
    ]),
    ...reviewers.flatMap(({ private_key }) => [
      private_key,
      Buffer.from(private_key, "hex").toString("base64url"),
    ]),
    receiver.hmac_secret,
    receiver.hmac_secret.replace("whsec_", ""),
  ];
}

test("a whole lifecycle, refusals, faults and a rotation log no secret", async () => {
  const lines: unknown[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  await using sandbox = await createSandbox({ seed: "secrets", log: { info: write, error: write } });
  const secrets = secretsOf(sandbox);
  const { urls, accounts } = sandbox.description;
  await runDemo(sandbox.description, silentPrinter);
  await sandbox.rotateKeys();
  secrets.push(...secretsOf(sandbox));
  const issued = await fetch(`${urls.api}/v1/routing/access`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accounts[0]?.key}`, "Content-Type": "application/json" },
    body: "{}",
  });
  const { credential } = z.object({ credential: z.string() }).parse(await issued.json());
  // Without its prefix, which is percent-encoded below.
  secrets.push(credential.slice(4));
  // Secrets where they do not belong, and a body that breaks.
  for (const Authorization of [`Bearer ${credential}x`, `Basic ${credential}`, credential])
    await fetch(`${urls.api}/v1/routing/programs/prg_demo`, { headers: { Authorization } });
  for (const part of [credential, credential.replace("_", "%5F")])
    for (const headers of [{}, { Origin: "https://evil.example" }])
      await fetch(`${urls.api}/v1/routing/programs/${part}`, { method: "POST", headers });
  await fetch(`${urls.api}/v1/routing/access`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accounts[0]?.key}`, "Content-Type": "application/json" },
    body: `{"scopes": ["${credential}"`,
  });
  await sandbox.chain.anvil.stop();
  await fetch(`${urls.api}/v1/routing/programs/prg_demo`, {
    headers: { Authorization: `Bearer ${credential}` },
  });
  const text = JSON.stringify(lines);
  expect(lines.length).toBeGreaterThan(25);
  expect(text).toContain("rpc_unavailable");
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).not.toMatch(/Bearer|whsec_/);
});

test("the answers that need no credential contain no secret", async () => {
  const sandbox = await freshSandbox();
  const { urls } = sandbox.description;
  const index = z.object({ resources: z.array(z.object({ url: z.string() })) });
  const { resources } = index.parse(await (await fetch(`${urls.api}/index.json`)).json());
  const open = [
    ...resources.map(({ url }) => url),
    `${urls.api}/v1/routing/capabilities`,
    `${urls.control}/status`,
  ];
  const texts = await Promise.all(open.map(async (url) => await (await fetch(url)).text()));
  const secrets = secretsOf(sandbox);
  for (const [index, text] of texts.entries())
    expect(
      secrets.filter((secret) => text.includes(secret)),
      open[index],
    ).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "only the owner can read the data directory and its files, whatever the umask, while it runs and after it",
  { tags: "thorough" },
  async () => {
    const folder = join(await temporaryFolder(), "kept");
    const before = process.umask(0o000);
    try {
      const sandbox = await createSandbox({ dataDirectory: folder });
      await runDemo(sandbox.description, silentPrinter);
      expect(await openToOthers(folder)).toEqual([]);
      await sandbox.close();
      expect(await openToOthers(folder)).toEqual([]);
      await using again = await createSandbox({ dataDirectory: folder });
      expect(again.chain.resumed).toBe(true);
      expect(await openToOthers(folder)).toEqual([]);
    } finally {
      process.umask(before);
    }
  },
);

test.skipIf(process.platform === "win32")("the check of modes finds an open file", async () => {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  expect(await openToOthers(folder)).toEqual([`${folder} 755`]);
});

/** Returns the files and folders that the group or others can read, write or enter. */
async function openToOthers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const found: string[] = [];
  for (const path of [folder, ...names.map((name) => join(folder, name))]) {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) found.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

test("a data directory that the sandbox makes has a .gitignore, and one that is there gets none", async () => {
  const folder = await temporaryFolder();
  const made = join(folder, "there", ".sandbox");
  await using _first = await createSandbox({ dataDirectory: made });
  expect(await readFile(join(made, ".gitignore"), "utf8")).toBe("*\n");
  await using _second = await createSandbox({ dataDirectory: folder });
  expect(await readdir(folder)).not.toContain(".gitignore");
});
