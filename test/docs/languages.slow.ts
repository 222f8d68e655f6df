import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";

const root = new URL("../../", import.meta.url);
let sandbox: Sandbox;
let folder: string;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "languages" });
  folder = await mkdtemp(join(tmpdir(), "routing-languages-"));
  await writeFile(join(folder, "sandbox.json"), JSON.stringify(sandbox.description));
});

afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const languages = [
  {
    name: "Python",
    file: "examples/python/purchase.py",
    check: ["python3", "-c", "import cryptography"],
    run: ["python3"],
  },
  { name: "Go", file: "examples/go/purchase.go", check: ["go", "version"], run: ["go", "run"] },
];

test.each(languages)("docs/languages.md shows the $name program of examples/ as it is", async ({ file }) => {
  const page = await readFile(new URL("docs/languages.md", root), "utf8");
  const name = file.split("/").at(-1);
  expect(page.split(` ${name}\n`)[1]?.split("\n```")[0]).toBe(
    (await readFile(new URL(file, root), "utf8")).trimEnd(),
  );
});

/** Whether what a program needs is installed; set-up installs it where apt-get can. */
function isInstalled([command = "", ...args]: readonly string[]): boolean {
  return spawnSync(command, args).status === 0;
}

for (const { name, file, check, run } of languages)
  test.skipIf(!isInstalled(check))(
    `the ${name} program takes a purchase to its refund, any number of times`,
    async () => {
      const [command = "", ...args] = run;
      const env = {
        ...process.env,
        ROUTING_SANDBOX_FILE: join(folder, "sandbox.json"),
        GOCACHE: join(folder, "go-cache"),
        GO111MODULE: "off",
      };
      for (const _ of ["first", "second"]) {
        const { stdout } = await promisify(execFile)(command, [...args, new URL(file, root).pathname], {
          env,
        });
        expect(stdout).toMatch(/^collected 0x[0-9a-f]{64}\n$/);
        const explanation = await sandbox.explain(stdout.trim().split(" ")[1] as `0x${string}`);
        expect(explanation).toMatchObject({ accepted: true, step: "refund" });
      }
    },
  );
