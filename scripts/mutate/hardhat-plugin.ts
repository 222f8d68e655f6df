import type { MutantGroup } from "./mutant.ts";

export const hardhatPlugin: readonly MutantGroup[] = [
  {
    file: "hardhat-plugin/check-registrar.ts",
    tests: ["test/hardhat-plugin/plugin.test.ts"],
    only: "check-registrar",
    mutants: [
      {
        rule: "The task fails if a check fails.",
        find: "report.passed ? successfulResult(report)",
        replace: "report.results.length > 0 ? successfulResult(report)",
      },
      {
        rule: "The option `--only` of the task chooses the checks that run.",
        find: "definedOnly({ only, bail })",
        replace: "definedOnly({ bail, ...(only === undefined ? {} : {}) })",
      },
    ],
  },
  {
    file: "hardhat-plugin/config-hooks.ts",
    tests: ["test/hardhat-plugin/plugin.test.ts"],
    only: "network",
    mutants: [
      {
        rule: "The network sandbox has the wallets of the sandbox as accounts, and no other.",
        find: "count: walletNames.length",
        replace: "count: walletNames.length + 1",
      },
      {
        rule: "A network of the project with the same name is not replaced.",
        find: "extended.networks?.[sandboxNetwork] !== undefined",
        replace: "extended.networks?.[sandboxNetwork] === null",
      },
    ],
  },
  {
    file: "hardhat-plugin/network-hooks.ts",
    tests: ["test/hardhat-plugin/plugin.test.ts"],
    only: "network",
    mutants: [
      {
        rule: "Only the network sandbox needs a sandbox.",
        find: "if (connection.networkName !== sandboxNetwork) return connection;",
        replace: 'if (connection.networkName === "none") return connection;',
      },
    ],
  },
];
