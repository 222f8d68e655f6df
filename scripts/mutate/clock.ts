import type { MutantGroup } from "./mutant.ts";

const travel = "test/sandbox/chain/clock/travel.test.ts";
const chain = "test/sandbox/chain/start-chain.test.ts";

const reorgTime = "test/sandbox/chain/clock/reorg-time.test.ts";
const liveOffset = "test/sandbox/chain/clock/live-offset.test.ts";

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
        rule: "The clock moves by whole seconds above zero.",
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
        find: "      await awaitAutomine(toNode(client.request));\n      return await step();",
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
        find: "    offset = arrived;\n",
        replace: "",
        tests: [chain],
      },
      {
        rule: "A live clock is Anvil's to the second, however long Anvil takes to read the wall clock.",
        find: "      await raiseOffset(node, offset);\n",
        replace: "",
        tests: [liveOffset],
      },
      {
        rule: "A live clock is Anvil's to the second after a travel.",
        find: "    await raiseOffset(node, arrived);\n",
        replace: "",
        tests: [liveOffset],
        only: "one offset",
      },
      {
        rule: "A live clock does not go back when the machine's clock does.",
        find: "if (read() < told) await",
        replace: "if (read() < 0) await",
        tests: [liveOffset],
        only: "clock is set back",
      },
      {
        rule: "A chain does not go back when the machine's clock does.",
        find: "    await raiseOffset(node, offset + missing);\n",
        replace: "",
        tests: [liveOffset],
        only: "clock is set back",
      },
      {
        rule: "A live clock is as far ahead after a restart as it travelled.",
        find: "    await kept.keep(arrived);\n",
        replace: "",
        tests: [reorgTime],
        only: "as far ahead",
      },
      {
        rule: "A live clock is as far ahead after a restart as a restore put it.",
        find: "if (offset !== before) await kept.keep",
        replace: "if (offset < 0) await kept.keep",
        tests: [reorgTime],
        only: "as far ahead",
      },
    ],
  },
  {
    file: "sandbox/chain/client/reorg.ts",
    tests: [reorgTime],
    mutants: [
      {
        rule: "No new block of a reorg is before the reorg.",
        find: "setTimestampInterval(node, now - kept)",
        replace: "setTimestampInterval(node, step)",
      },
      {
        rule: "The later blocks of a reorg follow the first one.",
        find: "if (depth > 1)",
        replace: "if (depth > 1_000)",
      },
      {
        rule: "The later blocks of a reorg have the transactions that were placed in them.",
        find: "Number(block) - 1",
        replace: "Number(block)",
        only: "placed in it",
      },
      {
        rule: "A live chain continues after a reorg as far ahead of the wall clock as before.",
        find: "      await raiseOffset(node, offset);\n",
        replace: "",
      },
      {
        rule: "A deterministic chain moves forward one second for each block after a reorg that Anvil refuses.",
        find: "} else await setTimestampInterval(node, step);",
        replace: "}",
        only: "that Anvil refuses",
      },
      {
        rule: "No request reads the time while blocks are replaced.",
        find: "while (this.#exclusive.isLocked()) await this.#exclusive.waitForUnlock();",
        replace: "",
        only: "asked while blocks are replaced",
      },
      {
        rule: "A reorg leaves the interval of mining as it is.",
        find: '"evm_setIntervalMining", [interval]',
        replace: '"evm_setIntervalMining", [0]',
        only: "leaves that as it is",
      },
      {
        rule: "Transactions are mined at once after a reorg as before.",
        find: "await startAutomine(node);",
        replace: "",
      },
      {
        rule: "A reorg waits for the block that is being made.",
        find: "const settled = await awaitAutomine(node);",
        replace: "const settled = false;",
        tests: ["test/sandbox/chain/rpc/rpc-reorg.test.ts"],
        only: "right after a transaction was sent",
      },
      {
        rule: "No rollback takes time back.",
        find: 'if (method === "anvil_rollback")',
        replace: 'if (method === "")',
        tests: ["test/sandbox/chain/rpc/rpc-reorg.test.ts"],
        only: "a rollback",
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
        find: "  await awaitAutomine(toNode(client.request));\n  for (let left",
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
    file: "sandbox/hosts/control/operations/sandbox.ts",
    tests: ["test/cli/command-line.test.ts"],
    mutants: [
      {
        rule: "The control API refuses a hash that is none.",
        find: "params: { hash: hashSchema }",
        replace: "params: { hash: z.string() }",
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
    file: "sandbox/state/data-directory/beginning.ts",
    tests: ["test/sandbox/options/programs.test.ts"],
    mutants: [
      {
        rule: "A data directory continues with its own seed, mode and programs.",
        find: "if (differing !== null)",
        replace: 'if (differing !== null && kept.seed === "")',
      },
      {
        rule: "A data directory of the first version is not replaced by a fresh one.",
        find: "keptSettings.safeParse(settings).success",
        replace: "false",
        tests: ["test/sandbox/chain/journal/journal.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/state/data-directory/verify-directory.ts",
    tests: ["test/sandbox/state/data-directory/checkpoint.test.ts"],
    mutants: [
      {
        rule: "A journal without the block that the epoch is made of is not whole.",
        find: "if (found === undefined || found.hash === hash) return;",
        replace: "if (found === undefined || found.number === number) return;",
        only: "epoch",
      },
    ],
  },
  {
    file: "sandbox/state/data-directory/lock.ts",
    tests: ["test/cli/doctor/doctor.test.ts", "test/end-to-end/restart.test.ts"],
    mutants: [
      {
        rule: "A data directory belongs to one process.",
        find: "if (owner !== null && isRunning(owner) && !isHeldForThis)",
        replace: "if (owner !== null && owner.pid < 0)",
        tests: ["test/end-to-end/restart.test.ts"],
      },
      {
        rule: "A start ends the Anvil that a killed sandbox has left.",
        find: "    await endLeftAnvil(directory);\n",
        replace: "",
        tests: ["test/end-to-end/restart.test.ts"],
        only: "next start in the directory",
      },
      {
        rule: "A start ends no other process than that Anvil.",
        find: "anvil.started === null || !isRunning(anvil)",
        replace: "anvil.started === null",
        tests: ["test/end-to-end/restart.test.ts"],
        only: "left alone",
      },
    ],
  },
  {
    file: "sandbox/options/check-types.ts",
    tests: ["test/sandbox/options/programs.test.ts"],
    mutants: [
      {
        rule: "A sandbox requires at least one confirmation.",
        find: "confirmations: whole(1, 1_000)",
        replace: "confirmations: whole(0, 1_000)",
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
        find: "    await discardAnvil(processes, exited);\n",
        replace: "",
        only: "before that listens",
      },
    ],
  },
  {
    file: "sandbox/chain/client/interval-miner.ts",
    tests: ["test/sandbox/chain/journal/interval-order.test.ts"],
    mutants: [
      {
        rule: "A block that is due waits for a call that changes an account.",
        find: "await this.#run(async () => await this.#make(running));",
        replace: "await this.#make(running);",
      },
    ],
  },
  {
    file: "sandbox/hosts/open-hosts.ts",
    tests: ["test/end-to-end/refusing-disk.test.ts"],
    mutants: [
      {
        rule: "A call that mines and shows its blocks is answered when they are durable.",
        find: "      const answer = await miningGate.runShared(run);\n      await journal?.announce();",
        replace: "      const answer = await miningGate.runShared(run);",
      },
      {
        rule: "Blocks that a call shows come after that of a transaction that was sent before them.",
        find: "      await awaitAutomine(node);\n",
        replace: "",
        tests: ["test/sandbox/chain/clock/mining.test.ts"],
        only: "blocks that are shown",
      },
    ],
  },
  {
    file: "sandbox/chain/start-chain.ts",
    tests: ["test/sandbox/chain/journal/first-block.test.ts"],
    mutants: [
      {
        rule: "A chain that is loaded has one block 0.",
        find: "    genesisTimestamp,\n",
        replace: "    genesisTimestamp: 1,\n",
      },
    ],
  },
  {
    file: "sandbox/chain/journal/chain-journal.ts",
    tests: [chain],
    mutants: [
      {
        rule: "A call that changes the chain is recorded.",
        find: "if (isDone(answered)) await this.#record(call);",
        replace: "",
      },
      {
        rule: "Blocks before a call are recorded before it.",
        find: "      if (!this.#paused) await this.#catchUp();\n      if (isRewinding",
        replace: "      if (isRewinding",
      },
    ],
  },
  {
    file: "sandbox/chain/journal/known-blocks.ts",
    tests: [chain],
    mutants: [
      {
        rule: "Blocks that came at once are recorded one by one.",
        find: "if (block === null || !(await this.#add(block))) return false;",
        replace: "if (block === null) return false;",
      },
      {
        rule: "A read at a block that is not known yet has that block recorded.",
        find: "return data !== undefined && (data === this.#head.hash || Number(data) <= this.#head.number);",
        replace: "return data !== undefined;",
      },
    ],
  },
  {
    file: "sandbox/chain/journal/replay.ts",
    tests: [chain],
    mutants: [
      {
        rule: "A block that is made again has its hash.",
        find: "return (await this.#makeOne(block)) === block.hash;",
        replace: "return (await this.#makeOne(block)) !== undefined;",
      },
      {
        rule: "A call that came while a block was being made may come after it.",
        find: "before >= 0; before -= 1",
        replace: "before >= calls.length; before -= 1",
      },
      {
        rule: "A chain that is made again holds no copy of the state for the calls between its blocks.",
        find: "calls.length === 0 || !this.#searches",
        replace: "calls.length === 0",
        tests: ["test/sandbox/chain/journal/journal.test.ts"],
        only: "holds no copy",
      },
    ],
  },
  {
    file: "sandbox/chain/journal/read-block.ts",
    tests: ["test/sandbox/chain/journal/journal.test.ts"],
    mutants: [
      {
        rule: "An empty account that a transaction has left in the state is part of its block.",
        find: "value !== emptyAccount",
        replace: "value === emptyAccount",
        only: "are made again",
      },
    ],
  },
  {
    file: "server/store/chain-changes.ts",
    tests: [chain],
    mutants: [
      {
        rule: "A rewind takes back the blocks after one, and the calls after the first of these.",
        find: "const left = this.#records.splice(end);",
        replace: "const left = this.#records.splice(end + 1);",
      },
    ],
  },
];
