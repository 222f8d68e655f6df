import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { faultPoints } from "../../relayer/faults/fault.ts";
import { faultLayers, placementsOf } from "../../sandbox/faults/fault-matrix.ts";

const readPage = async (path: string) => await readFile(new URL(`../../${path}`, import.meta.url), "utf8");

/** The heading of the section of each layer. */
const headings = {
  api: "Faults of the API",
  relayer: "Faults of the relayer",
  rpc: "Faults of the node",
  chain: "Faults of the chain",
  delivery: "Faults of deliveries",
};

test.each(faultLayers)("docs/faults.md has every action of the layer %s with its points", async (layer) => {
  const [, section = ""] = (await readPage("docs/faults.md")).split(`## ${headings[layer]}\n`);
  const [text = ""] = section.split("\n## ");
  for (const [action, points] of Object.entries(placementsOf(layer))) {
    expect(text).toMatch(new RegExp(`\\b${action}\\b`));
    const [, placed] = new RegExp(`^- \`${action}\` \\((.*?)\\)`, "m").exec(text) ?? [];
    // "Every point" and "RPC points" are explained above the list, and the points of the chain are not named.
    if (layer !== "chain") expect(placed, action).toBeDefined();
    if (placed === "both points") expect(points).toHaveLength(2);
    if (placed !== undefined && !/ points?\b/.test(placed))
      expect((placed.match(/(?<=`)\w+(?=`)/g) ?? []).toSorted(), action).toEqual([...points].toSorted());
  }
});

test("docs/relayer.md has every point of the relayer, in the order of the steps", async () => {
  const [, section = ""] = (await readPage("docs/relayer.md")).split("## The journal\n");
  const [steps = ""] = section.split("\n### ");
  expect(steps.match(/(?<=`)[a-z_]+(?=`)/g)).toEqual([...faultPoints]);
});
