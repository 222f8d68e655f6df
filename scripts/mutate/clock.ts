import type { MutantGroup } from "./mutant.ts";

const travel = "test/sandbox/chain/clock/travel.test.ts";
const chain = "test/sandbox/chain/genesis/start-chain.test.ts";

export const clock: readonly MutantGroup[] = [
  {
    file: "sandbox/chain/clock/clock.ts",
    tests: [travel],
    mutants: [
      {
        rule: "Time does not travel to now.",
        find: "Number.isSafeInteger(timestamp) && timestamp > now",
        replace: "Number.isSafeInteger(timestamp) && timestamp >= now",
        tests: [travel],
        only: "time does not travel by",
      },
      {
        rule: "Time travels by whole seconds above zero.",
        find: "Number.isSafeInteger(seconds) && seconds > 0",
        replace: "seconds > 0",
      },
      {
        rule: "Time ends where no answer could show it any more.",
        find: "if (timestamp > latestTime)",
        replace: "if (timestamp > 2 * latestTime)",
        only: "time ends where",
      },
      {
        rule: "Travels at once follow each other.",
        find: "travel: async (by) => await move(async () => await clock.travel(by)),",
        replace: "travel: async (by) => await clock.travel(by),",
      },
      {
        rule: "Travel comes after the block of a transaction that was sent before it.",
        find: "      await awaitAutomine(connect(client.request));\n      return await step();",
        replace: "      return await step();",
        tests: ["test/sandbox/chain/clock/mining.test.ts"],
        only: "time travels from that block",
      },
      {
        rule: "Blocks of a deterministic sandbox are one second apart.",
        find: "interval: 1 }",
        replace: "interval: 2 }",
        tests: [chain],
      },
      {
        rule: "A live clock keeps what it travelled.",
        find: "      offset = restored;\n",
        replace: "      offset = 0;\n",
        tests: [chain],
        only: "comes back to a snapshot",
      },
      {
        rule: "A live clock is never behind its chain.",
        find: "      offset += Math.max(0, behind);\n",
        replace: "",
        tests: [chain],
      },
      {
        rule: "A live clock that travels is ahead from then on.",
        find: "    offset += ahead;\n",
        replace: "",
        tests: [chain],
      },
    ],
  },
  {
    file: "sandbox/chain/clock/duration.ts",
    tests: [travel],
    mutants: [
      {
        rule: "A day has 24 hours.",
        find: "days * 24 + hours",
        replace: "days * 12 + hours",
      },
    ],
  },
  {
    file: "sandbox/chain/clock/let-time-pass.ts",
    tests: ["test/server/outbox/deliver.test.ts"],
    mutants: [
      {
        rule: "A pause below a second lets a second of sandbox time pass.",
        find: "Math.ceil(milliseconds / 1_000)",
        replace: "Math.max(1, Math.floor(milliseconds / 1_000))",
        only: "is waited for in sandbox time",
      },
    ],
  },
  {
    file: "sandbox/chain/clock/mining.ts",
    tests: ["test/sandbox/chain/rpc/rpc.test.ts"],
    mutants: [
      {
        rule: "As many blocks are mined as were asked for.",
        find: "left > 0; left -= portion",
        replace: "left > 0; left -= portion + 1",
        tests: ["test/sandbox/chain/clock/mining.test.ts"],
        only: "as many blocks are mined",
      },
      {
        rule: "Blocks come after that of a transaction that was sent before them.",
        find: "  await awaitAutomine(connect(client.request));\n  for (let left",
        replace: "  for (let left",
        tests: ["test/sandbox/chain/clock/mining.test.ts"],
        only: "asked for come after it",
      },
      {
        rule: "Blocks are mined when the control API says.",
        find: 'interval: every === "never" ? 0 : every',
        replace: "interval: 0",
        tests: ["test/sandbox/chain/rpc/rpc.test.ts", "test/cli/command-line.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/hosts/control/host.ts",
    tests: ["test/cli/command-line.test.ts"],
    mutants: [
      {
        rule: "The control API refuses a hash that is none.",
        find: "/^[0-9a-f]{64}$/",
        replace: "/^[0-9a-f]*$/",
        tests: ["test/sandbox/hosts/explain/explain.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/chain/genesis/open-epoch.ts",
    tests: [chain],
    mutants: [
      {
        rule: "Another seed has another epoch.",
        find: '["epoch", keccak256(stringToHex(seed)), random]',
        replace: '["epoch", keccak256(stringToHex("")), random]',
      },
      {
        rule: "Another random value has another epoch.",
        find: "keccak256(stringToHex(seed)), random]",
        replace: 'keccak256(stringToHex(seed)), "0x"]',
      },
    ],
  },
  {
    file: "sandbox/state/data-directory/settings-file.ts",
    tests: ["test/sandbox/options/programs.test.ts"],
    mutants: [
      {
        rule: "A data directory continues with its own seed, mode and programs.",
        find: "if (kept !== null && canonicalJson(kept) !== canonicalJson(wanted))",
        replace: 'if (kept !== null && kept.seed === "")',
      },
      {
        rule: "A start that did not finish begins anew.",
        find: "if (fresh || existsSync(unfinished))",
        replace: "if (fresh)",
        tests: ["test/sandbox/state/snapshot-file.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/state/data-directory/lock.ts",
    tests: ["test/cli/doctor.test.ts", "test/end-to-end/restart.test.ts"],
    mutants: [
      {
        rule: "A data directory belongs to one process.",
        find: "if (owner !== null && isRunning(owner))",
        replace: "if (owner !== null && owner.pid < 0)",
        tests: ["test/end-to-end/restart.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/options/options.ts",
    tests: ["test/sandbox/options/programs.test.ts"],
    mutants: [
      {
        rule: "A sandbox requires at least one confirmation.",
        find: "!Number.isInteger(confirmations) || confirmations < 1",
        replace: "!Number.isInteger(confirmations) || confirmations < 0",
      },
    ],
  },
  {
    file: "sandbox/options/start-deadline.ts",
    tests: ["test/sandbox/options/start-timeout.test.ts"],
    mutants: [
      {
        rule: "A start ends when its deadline has passed.",
        find: "setTimeout(() => this.#passed.abort(), this.#timeoutMs)",
        replace: "setTimeout(() => {}, this.#timeoutMs)",
        only: "a receiver's name",
      },
      {
        rule: "A start that took too long says what it was waiting for.",
        find: "if (!this.signal.aborted) this.#step = step;",
        replace: "",
        only: "a receiver's name",
      },
    ],
  },
  {
    file: "sandbox/chain/anvil/start-anvil.ts",
    tests: ["test/sandbox/options/start-timeout.test.ts"],
    mutants: [
      {
        rule: "A start that fails by its deadline ends its Anvil.",
        find: "    await discardAnvil(processes, exited, stateFile);\n",
        replace: "",
        only: "before that listens",
      },
    ],
  },
];
