import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { constants, createBrotliCompress } from "node:zlib";
import { expect, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { sealed } from "./sealed.ts";

test("a snapshot file of some kilobytes that would take gigabytes is refused", async () => {
  await using sandbox = await createSandbox();
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const compress = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const body = buffer(compress);
  compress.write("{}\n");
  const zeros = Buffer.alloc(2 ** 20);
  // A gigabyte.
  for (let written = 0; written < 1_024; written += 1)
    if (!compress.write(zeros)) await new Promise((resolve) => compress.once("drain", resolve));
  compress.end();
  await writeFile(file, sealed(await readFile(file), {}, await body));
  expect((await stat(file)).size).toBeLessThan(1_000_000);
  const before = process.memoryUsage().rss;
  await expect(createSandbox({ from: file })).rejects.toMatchObject({
    code: "snapshot_refused",
    message: `${file} cannot be decompressed, or has more than 500 MiB decompressed: no sandbox has written it. Save it again.`,
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(800 * 2 ** 20);
});
