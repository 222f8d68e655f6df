import type { Bar as Needed, Row } from "./benchmark.ts";
import { figure } from "./report.ts";

/** Sizes in pixels. */
const width = 900;
const labels = 370;
const line = 30;
const top = 44;

/** A speed of the floor's is 1; more is faster. */
interface Bar {
  label: string;
  speed: number;
  needed: number | null;
  met: boolean | null;
}

/**
 * Draws each subject that has a floor or peer as a bar: its speed relative to that, on a logarithmic scale, with a tick
 * where its bar is. Colors follow the reader's light or dark scheme.
 *
 * @example await writeFile("docs/performance.svg", drawChart(report.rows))
 */
export function drawChart(rows: readonly Row[]): string {
  const bars = rows.flatMap(toBar);
  const height = top + bars.length * line + 24;
  const least = Math.min(0.1, ...bars.map(({ speed }) => speed));
  const most = Math.max(10, ...bars.map(({ speed }) => speed));
  const at = (speed: number) =>
    labels + (Math.log(speed / least) / Math.log(most / least)) * (width - labels - 70);
  const drawn = bars.map((bar, index) => drawBar(bar, top + index * line, at));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    '<title id="title">Speed of each subject compared with its baseline, which is 1; further right is faster</title>',
    "<style>",
    "text { font: 13px system-ui, sans-serif; fill: #1f2328 } .quiet { fill: #59636e }",
    ".plain { fill: #0969da } .met { fill: #1a7f37 } .missed { fill: #bc4c00 }",
    ".one { stroke: #59636e; stroke-dasharray: 3 3 } .needed { stroke: #1f2328; stroke-width: 2 }",
    "@media (prefers-color-scheme: dark) {",
    "text { fill: #f0f6fc } .quiet { fill: #9198a1 } .plain { fill: #4493f8 } .met { fill: #3fb950 }",
    ".missed { fill: #db6d28 } .one { stroke: #9198a1 } .needed { stroke: #f0f6fc } }",
    "</style>",
    '<text class="quiet" x="8" y="22">Speed compared with its baseline (dashed: equal; solid tick: the bar to meet)</text>',
    `<line class="one" x1="${round(at(1))}" x2="${round(at(1))}" y1="${top - 8}" y2="${height - 20}"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function toBar({ benchmark, subject, unit, comparedTo, bar, met }: Row): Bar[] {
  if (comparedTo === null) return [];
  const faster = (ratio: number) => (unit === "per second" ? ratio : 1 / ratio);
  const ratio = bar === null || "noMoreThan" in bar || "noLessThan" in bar ? null : ratioOf(bar);
  const needed = ratio === null ? null : faster(ratio);
  return [{ label: `${benchmark}: ${subject}`, speed: faster(comparedTo.ratio), needed, met }];
}

function ratioOf(bar: Needed): number {
  return "atMost" in bar ? bar.atMost : bar.atLeast;
}

function drawBar({ label, speed, needed, met }: Bar, y: number, at: (speed: number) => number): string {
  const [from, to] = speed < 1 ? [at(speed), at(1)] : [at(1), at(speed)];
  const kind = met === null ? "plain" : met ? "met" : "missed";
  const tick =
    needed === null
      ? ""
      : `<line class="needed" x1="${round(at(needed))}" x2="${round(at(needed))}" y1="${y}" y2="${y + 18}"/>`;
  return [
    `<text x="${labels - 12}" y="${y + 14}" text-anchor="end">${escaped(label)}</text>`,
    `<rect class="${kind}" x="${round(from)}" y="${y + 2}" width="${round(Math.max(1, to - from))}" height="14" rx="2"/>`,
    tick,
    `<text class="quiet" x="${round(Math.max(to, at(1)) + 6)}" y="${y + 14}">${figure(speed)}</text>`,
  ].join("");
}

function round(pixels: number): string {
  return pixels.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
