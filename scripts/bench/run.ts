/** Runs one benchmark by its name and prints medians and ratios: `npm run bench <name> [-- --json]`. */
import { readdir } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { Command } from "commander";
import { type Benchmark, measure, median } from "./benchmark.ts";

const NOT_BENCHMARKS = ["run.ts", "benchmark.ts", "process-group.ts", "rpc-node.ts", "opened-store.ts"];

const names = (await readdir(new URL(".", import.meta.url)))
  .filter((file) => file.endsWith(".ts") && !NOT_BENCHMARKS.includes(file))
  .map((file) => file.slice(0, -".ts".length));

const program = new Command("bench")
  .description("Runs one benchmark and prints medians and ratios")
  .argument("<name>", `one of: ${names.join(", ")}`)
  .option("--json", "print JSON instead of a table")
  .option("--rounds <number>", "how often each subject runs", Number)
  .parse();

const [name = ""] = program.args;
const { json = false, rounds } = program.opts<{ json?: boolean; rounds?: number }>();
if (!names.includes(name)) program.error(`There is no benchmark ${name}; there are: ${names.join(", ")}.`);

const loaded: { benchmark: Benchmark } = await import(`./${name}.ts`);
const benchmark = { ...loaded.benchmark, ...(rounds === undefined ? {} : { rounds }) };
const [cpu] = cpus();
const machine = `${cpu?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}`;

const measured = await measure(benchmark, (line) => process.stderr.write(`${line}\n`));
await benchmark.close?.();
const floor = median(measured.get(benchmark.baseline) ?? []);
const rows = [...measured].map(([subject, milliseconds]) => ({
  subject,
  medianMs: median(milliseconds),
  minMs: Math.min(...milliseconds),
  maxMs: Math.max(...milliseconds),
  ratio: median(milliseconds) / floor,
  ...perSecond(median(milliseconds)),
}));

function perSecond(milliseconds: number): { operationsPerSecond?: number; speedRatio?: number } {
  const { operations } = benchmark;
  if (operations === undefined) return {};
  return { operationsPerSecond: (operations / milliseconds) * 1_000, speedRatio: floor / milliseconds };
}

if (json) {
  console.log(
    JSON.stringify(
      { benchmark: name, title: benchmark.title, machine, rounds: benchmark.rounds, rows },
      null,
      2,
    ),
  );
} else {
  const width = Math.max(...rows.map(({ subject }) => subject.length));
  console.log(`${benchmark.title}\n${machine}; ${benchmark.rounds} rounds\n`);
  const speeds = benchmark.operations === undefined ? "" : "  operations/s   of the floor";
  console.log(`${"".padEnd(width)}    median       min       max   ratio${speeds}`);
  for (const { subject, medianMs, minMs, maxMs, ratio, operationsPerSecond, speedRatio } of rows) {
    const times = [medianMs, minMs, maxMs].map((value) => `${value.toFixed(1).padStart(7)} ms`);
    const speed = [operationsPerSecond?.toFixed(0).padStart(14), speedRatio?.toFixed(2).padStart(15)].join(
      "",
    );
    console.log(`${subject.padEnd(width)}${times.join("")}${ratio.toFixed(2).padStart(8)}${speed}`);
  }
}
