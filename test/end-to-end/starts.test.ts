import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { processesWith } from "../kit/left-processes.ts";
import { anyPorts, runIn } from "../kit/run-in-background.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** The number of starts and stops; `npm run test:starts` sets it. */
const starts = Number(process.env["STARTS"] ?? 10);

test(
  "sandboxes start and stop one after the other, and leave no process, port, lock or file",
  async () => {
    const folder = await temporaryFolder();
    const leftPorts: string[] = [];
    for (let number = 1; number <= starts; number += 1) {
      const directory = `${folder}/data`;
      if (number % 2 === 0) {
        const ended = await runIn(folder, "exec", "--", "sh", "-c", 'test -f "$ROUTING_SANDBOX_FILE"');
        expect(ended, `exec ${number}`).toEqual({ code: 0, stdout: "", stderr: "" });
      } else {
        const where = ["--data-dir", directory];
        const started = await runIn(
          folder,
          "start",
          "--detach",
          "--json",
          "--log-file=log",
          ...anyPorts,
          ...where,
        );
        expect(started, `start ${number}`).toMatchObject({ code: 0, stderr: "" });
        expect(await runIn(folder, "stop", ...where), `stop ${number}`).toMatchObject({
          code: 0,
          stderr: "",
        });
        const urls: Record<string, string> = JSON.parse(started.stdout).urls;
        for (const url of Object.values(urls)) if (await fetch(url).catch(() => null)) leftPorts.push(url);
        expect(await readdir(directory)).toEqual(["store"]);
      }
      expect(await processesWith("TMPDIR", folder), `after ${number}`).toEqual([]);
    }
    expect(leftPorts).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(["data", "log"]);
  },
  starts * 30_000,
);
