import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { installer, run } from "./run.ts";

const yarn = "@yarnpkg/cli-dist@4.18.1";

const program = `
import { createSandbox } from "routing-sandbox";
for (const resumed of [false, true]) {
  const sandbox = await createSandbox({ dataDirectory: "data" });
  await sandbox.given.purchase({ state: "refunded" });
  const page = await fetch(sandbox.description.urls.control + "/assets/vendor/lit-html/lit-html.js");
  const guide = await fetch(sandbox.description.urls.docs + "/portal/docs.md");
  console.log(sandbox.chain.resumed === resumed, page.status, guide.status);
  await sandbox.close();
}
`;

test("the package works with Yarn's Plug'n'Play", async () => {
  const home = await mkdtemp(join(tmpdir(), "routing-sandbox-yarn-"));
  onTestFinished(async () => await rm(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  await mkdir(cwd);
  const env: NodeJS.ProcessEnv = {
    ...installer(dirname(process.execPath), home),
    YARN_ENABLE_TELEMETRY: "0",
    // In CI, Yarn would refuse to write the lock file.
    YARN_ENABLE_IMMUTABLE_INSTALLS: "0",
  };
  const registry = env["npm_config_registry"];
  if (registry !== undefined) env["YARN_NPM_REGISTRY_SERVER"] = registry;
  const manifest = {
    name: "project",
    private: true,
    type: "module",
    dependencies: { "routing-sandbox": `file:${inject("tarball")}`, viem: "2.57.1" },
  };
  await run("npm", ["install", yarn], { cwd: home, env });
  await writeFile(join(cwd, "package.json"), JSON.stringify(manifest));
  await writeFile(join(cwd, "yarn.lock"), "");
  await writeFile(join(cwd, "program.mjs"), program);
  const start = async (...args: string[]) =>
    await run(join(home, "node_modules", ".bin", "yarn"), args, { cwd, env });
  await start("install", "--mode=skip-build");
  expect(await start("node", "program.mjs")).toBe("true 200 200\ntrue 200 200\n");
  expect(
    await start("routing-sandbox", "exec", "--", "sh", "-c", 'test -n "$ROUTING_API_URL" && echo ran'),
  ).toBe("ran\n");
  const ports = ["api", "docs", "control", "rpc"].flatMap((name) => [`--${name}-port`, "0"]);
  const started = await start(
    "routing-sandbox",
    "start",
    "--detach",
    "--fresh",
    "--data-dir",
    "data",
    ...ports,
  );
  expect(started).toContain("To stop it: yarn routing-sandbox stop --data-dir data.");
  expect(await start("routing-sandbox", "stop", "--data-dir", "data")).toContain("Stopped the sandbox");
});
