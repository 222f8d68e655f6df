import { expect, test } from "vitest";
import { examine } from "../../../cli/doctor/examine.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";

test.skipIf(process.platform !== "linux")(
  "a data directory that cannot be made because the directory above it takes none is refused at once",
  { timeout: 10_000 },
  async () => {
    for (const dataDirectory of ["/proc/routing-sandbox", "/proc/routing-sandbox/below"]) {
      const reason = /: there is no such file \(ENOENT, .*\)\. Make it writable/;
      await expect(createSandbox({ dataDirectory })).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringMatching(reason),
      });
      const findings = await examine({ dataDirectory, ports: {}, environment: {} });
      expect(findings.find(({ check }) => check === "data directory")).toMatchObject({
        ok: false,
        found: expect.stringContaining(
          `${dataDirectory} cannot be written to: there is no such file (ENOENT`,
        ),
      });
    }
  },
);
