import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, constants, createBrotliCompress } from "node:zlib";
import { expect, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { tryCli } from "../../../cli/run-cli.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { sealed } from "./sealed.ts";

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

test("a snapshot file of some kilobytes that would take gigabytes is refused", async () => {
  await using sandbox = await createSandbox();
  const file = join(await temporaryFolder(), "saved.snapshot");
  await sandbox.save(file);
  const compress = createBrotliCompress(fast);
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

test.each([
  [
    "first line",
    (line: Buffer) => Buffer.concat([line, Buffer.from("\n")]),
    "is not a snapshot file, or its first line is damaged. Name a file that sandbox.save() or routing-sandbox snapshot save has written.",
  ],
  [
    "content",
    (line: Buffer, whole: Buffer) =>
      sealed(whole, {}, brotliCompressSync(Buffer.concat([line, Buffer.from("\n{}")]), fast)),
    "has content that this version does not write. Save it again.",
  ],
])(
  "a snapshot file whose %s has millions of small values is refused before it takes gigabytes",
  async (_, made, refusal) => {
    await using sandbox = await createSandbox();
    const file = join(await temporaryFolder(), "saved.snapshot");
    await sandbox.save(file);
    const values = Buffer.alloc(60 * 2 ** 20, "{},");
    const line = Buffer.concat([Buffer.from("["), values, Buffer.from("{}]")]);
    await writeFile(file, made(line, await readFile(file)));
    const before = process.memoryUsage().rss;
    const start = await tryCli([
      "start",
      "--from",
      file,
      "--data-dir",
      join(await temporaryFolder(), "data"),
    ]);
    expect(start).toMatchObject({ code: 1, stderr: `${file} ${refusal}\n` });
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * 2 ** 20);
  },
);
