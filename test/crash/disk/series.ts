import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { programFile } from "../../program-file.ts";
import type { DiskScenario } from "../../programs/disk-scenario.ts";
import type { Fact } from "./facts.ts";
import { type DiskFault, faultKinds } from "./fault.ts";
import { requireAll } from "./oracle.ts";

const injector = fileURLToPath(new URL("inject.ts", import.meta.url));

/** The steps that run while the disk fails. */
export interface DiskSeries {
  title: string;
  /** The steps that prepare the directory; absent for a new one. */
  before?: DiskScenario["steps"];
  steps: DiskScenario["steps"];
  /** Starts with --fresh and another seed. */
  fresh?: boolean;
  /** Loads a snapshot file. */
  load?: boolean;
}

/** Runs a series in a process of its own. */
async function run(scenario: DiskScenario, fault: DiskFault): Promise<Fact[]> {
  const program = spawn(process.execPath, [programFile("disk-scenario"), JSON.stringify(scenario)], {
    env: { ...process.env, NODE_OPTIONS: `--import=${injector}`, DISK_FAULT: JSON.stringify(fault) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = await Promise.all([text(program.stdout), once(program, "exit")]);
  // The last line may be cut off.
  return output
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The runs of a series, each on a copy of the same directory. */
class DiskRuns {
  /** How many operations on files a run has. */
  operations = 0;
  readonly #series: DiskSeries;
  readonly #folder: string;
  readonly #base: string;
  #told: Fact[] = [];

  constructor(series: DiskSeries, folder: string) {
    this.#series = series;
    this.#folder = folder;
    this.#base = join(folder, "base");
  }

  /** Makes the directory, and counts the operations of a run without a fault. */
  async prepare(): Promise<void> {
    const { before, load } = this.#series;
    if (load) {
      await using saved = await createSandbox({ seed: "anew" });
      await saved.given.purchase({ state: "paid" });
      await saved.save(join(this.#folder, "saved.snapshot"));
    }
    const fault = { folder: this.#base, at: 0, kind: "EIO" } as const;
    if (before !== undefined)
      this.#told = await run({ steps: before, dataDirectory: this.#base, seed: "disk" }, fault);
    const [dataDirectory, report] = [join(this.#folder, "counted"), join(this.#folder, "count")];
    const facts = await this.#runIn(dataDirectory, { ...fault, folder: dataDirectory, report });
    expect(facts.at(-1)).toEqual({ fact: "closed" });
    expect(facts.filter(({ fact }) => fact === "refused")).toEqual([]);
    this.operations = Number(await readFile(report, "utf8"));
  }

  /** Runs the series with a fault at one operation. @returns what was wrong, if anything was. */
  async failAt(at: number, kind: DiskFault["kind"]): Promise<string[]> {
    const { fresh = false, load = false } = this.#series;
    const dataDirectory = join(this.#folder, `${at}-${kind.replaceAll(" ", "-")}`);
    const facts = await this.#runIn(dataDirectory, { folder: dataDirectory, at, kind });
    const hasStarted = facts.some(({ fact }) => fact === "started");
    const hasFailed = facts.some((fact) => fact.fact === "refused" && fact.step === "start");
    try {
      if (!fresh && !load) await requireAll(dataDirectory, [...this.#told, ...facts]);
      else if (hasStarted) await requireAll(dataDirectory, facts);
      else await requireOneOf(dataDirectory, this.#told, hasFailed);
    } catch (error) {
      const names = facts.map((fact) =>
        fact.fact === "refused" ? `${fact.step} refused: ${fact.message}` : fact.fact,
      );
      return [`operation ${at} of ${this.operations}, ${kind}: ${String(error)} after ${names.join(", ")}`];
    } finally {
      await rm(dataDirectory, { recursive: true, force: true });
    }
    return [];
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #runIn(dataDirectory: string, fault: DiskFault): Promise<Fact[]> {
    const { before, steps, fresh = false, load = false } = this.#series;
    if (before !== undefined) await cp(this.#base, dataDirectory, { recursive: true });
    const scenario: DiskScenario = {
      steps,
      dataDirectory,
      seed: fresh || load ? "anew" : "disk",
      ...(fresh ? { fresh } : {}),
      ...(load ? { from: join(this.#folder, "saved.snapshot"), fresh: true } : {}),
    };
    return await run(scenario, fault);
  }
}

/**
 * Tests that a fault at an operation on a file, whichever it is, loses nothing that was answered.
 *
 * @param points - how many of the operations fail, spread evenly, each in one way in turn; all of them in all ways if not given.
 */
export function failDisk(series: DiskSeries, points?: number): void {
  let runs: DiskRuns;

  beforeAll(async () => {
    runs = new DiskRuns(series, await mkdtemp(join(tmpdir(), "routing-sandbox-disk-")));
    await runs.prepare();
  }, 120_000);
  afterAll(async () => await runs.remove());

  const ways = faultKinds.map((kind, index) => ({ kind, index }));
  test.for(points === undefined ? ways : ways.slice(0, 1))(
    `${series.title}: nothing that was answered is lost when the disk fails ($kind)`,
    {
      timeout: 1_800_000,
    },
    async ({ kind }) => {
      const { operations } = runs;
      const wrong: string[] = [];
      for (let point = 0; point < (points ?? operations); point += 1) {
        const at = points === undefined ? point + 1 : 1 + Math.floor((point * operations) / points);
        const way = points === undefined ? kind : (faultKinds[point % faultKinds.length] ?? kind);
        wrong.push(...(await runs.failAt(at, way)));
      }
      expect(wrong).toEqual([]);
      expect(operations).toBeGreaterThan(10);
    },
  );
}

/** The old sandbox, whole, or the new one; after a start that has failed and was not killed, the old one. */
async function requireOneOf(dataDirectory: string, told: readonly Fact[], hasFailed: boolean): Promise<void> {
  const sandbox = await createSandbox({ dataDirectory });
  const { seed } = sandbox.description;
  await sandbox.close();
  if (seed === "disk" || hasFailed) await requireAll(dataDirectory, told);
  else expect(seed).toBe("anew");
}
