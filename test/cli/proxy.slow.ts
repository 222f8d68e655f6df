import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { cli } from "./program.ts";

test("no request of the command line to its sandbox goes through a proxy", async () => {
  const asked: (string | undefined)[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    asked.push(request.url);
    socket.destroy();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const cwd = await temporaryFolder();
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: "1",
    ...Object.fromEntries(
      ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"].map((name) => [name, url]),
    ),
    NO_PROXY: "",
    no_proxy: "",
  };
  const run = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [cli, ...args], { cwd, env })).stdout;
  const ports = ["api", "docs", "control", "rpc"].flatMap((name) => [`--${name}-port`, "0"]);
  await run("start", "--detach", ...ports);
  try {
    expect(JSON.parse(await run("status", "--wait", "--json"))).toMatchObject({ seed: "sandbox" });
    await run("given", "purchase", "--state", "paid");
    expect(await run("deliver")).not.toContain("no response");
    await run("demo");
    await run("logs");
    await run("trace", "a.trace.html");
    const { findings } = JSON.parse(await run("doctor", "--json", ...ports).catch(({ stdout }) => stdout));
    expect(findings).toContainEqual(expect.objectContaining({ check: "lock", ok: true }));
    expect(await run("exec", "--", "true")).toBe("");
  } finally {
    expect(await run("stop")).toContain("Stopped the sandbox");
  }
  expect(asked).toEqual([]);
});
