import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The tests start programs a few hundred times: what those load is compiled once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/** The longest files begin first, so that no worker is left with one of them at the end. */
const longest = [
  "test/sandbox/chain/genesis/genesis-cache",
  "test/package/",
  "test/portal/explorer/",
  "test/portal/wallet/",
  "test/testkit/parallel",
  "test/determinism",
  "test/crash/",
  "test/testkit/explore/",
  "test/portal/reference/",
  "test/relayer/over-http",
  "test/sandbox/service/cluster/identical-requests",
  "test/sandbox/service/cluster/two-processes",
  "test/end-to-end/restart",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((part) => moduleId.includes(part));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/bundle-programs.ts",
    // On two cores: while tests wait for what they started, a third worker has something to do.
    maxWorkers: 3,
    // Files share nothing but modules, and loading those again for each file takes a third of the whole.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For what hangs: how fast things are is measured by the benchmarks, against a floor, and never by a test.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Pages in a checkout are served through a function of Node that warns of itself.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    retry: 0,
    expect: { requireAssertions: true, poll: { timeout: 50_000 } },
    passWithNoTests: false,
    allowOnly: false,
  },
});
