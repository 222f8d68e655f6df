import { createRequire } from "node:module";
import { defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

export default defineConfig({
  solidity: {
    version: "0.8.37",
    // An absolute path keeps Hardhat from downloading the compiler.
    path: require.resolve("solc/soljson.js"),
    settings: {
      optimizer: { enabled: true, runs: 10_000 },
      evmVersion: "osaka",
      viaIR: true,
    },
  },
  paths: {
    sources: "contracts",
    tests: { solidity: "contracts/test" },
    artifacts: "artifacts",
    cache: "cache",
  },
});
