import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { startCommand } from "../../cli/commands/start.ts";
import { resolveOptions } from "../../sandbox/options/options.ts";
import { optionsTable } from "../../scripts/options-table.ts";

/** The cells of each row of the table in docs/options.md, by the option's name. */
async function readRows(): Promise<Map<string, readonly string[]>> {
  const page = await readFile("docs/options.md", "utf8");
  const table = page.split("<!-- generated:options -->\n")[1]?.split("\n<!-- /generated -->")[0];
  expect(table).toBe(optionsTable());
  const rows = (table ?? "").split("\n").slice(2);
  return new Map(
    rows.map((row) => {
      const [name = "", ...cells] = row.slice(2, -2).split(" | ");
      return [name.replaceAll("`", ""), cells];
    }),
  );
}

test("docs/options.md has every option, each with the default that a sandbox without it gets", async () => {
  const rows = await readRows();
  const defaults = resolveOptions({});
  // `from` is read before the defaults are filled in.
  expect([...rows.keys()].toSorted()).toEqual([...Object.keys(defaults), "from"].toSorted());
  for (const [name, value] of Object.entries(defaults)) {
    const said = rows.get(name)?.[2] ?? "";
    if (typeof value === "number") expect([name, said]).toEqual([name, value.toLocaleString("en-US")]);
    if (typeof value === "boolean") expect([name, said]).toEqual([name, String(value)]);
    if (value === undefined)
      expect([name, said]).toEqual([name, expect.stringMatching(/^(none|unlimited|the sandbox's own)/)]);
  }
  expect(rows.get("seed")?.[2]).toBe(`\`${defaults.seed}\``);
  expect(rows.get("mode")?.[2]).toContain(`\`${defaults.mode}\` (`);
  expect(rows.get("programs")?.[2]).toBe(defaults.programs.map(({ id }) => `\`${id}\``).join(", "));
  const limits = rows.get("connectionLimits")?.[2]?.replaceAll(/[`_]/g, "");
  expect(limits).toBe(
    `{ ${Object.entries(defaults.connectionLimits)
      .map(([name, limit]) => `${name}: ${limit}`)
      .join(", ")} }`,
  );
});

test("docs/options.md has the defaults of the ports of start", async () => {
  const said = (await readRows()).get("ports")?.[2];
  const ports = startCommand().options.filter(({ long }) => long?.endsWith("-port"));
  expect(ports).toHaveLength(4);
  for (const { long, defaultValue } of ports)
    expect(said).toContain(`${defaultValue} for \`${long?.slice(2, -"-port".length)}\``);
});
