import type { MutantGroup } from "./mutant.ts";

const snapshot = "test/sandbox/state/snapshot.test.ts";
const saved = "test/sandbox/state/snapshot-file/snapshot-file.test.ts";
const gate = "test/sandbox/lib/http/request-gate.test.ts";
const parts = "test/sandbox/lib/part.test.ts";
const explorerTests = "test/sandbox/hosts/explorer/data.test.ts";

export const snapshots: readonly MutantGroup[] = [
  {
    file: "sandbox/state/snapshot.ts",
    tests: [snapshot],
    mutants: [
      {
        rule: "A snapshot has the head that the relayer looked at.",
        find: "      if (relayer.captureTrail().length === 0) await relayer.observe();\n",
        replace: "",
        tests: ["test/sandbox/state/seen-heads.test.ts"],
      },
      {
        rule: "A restore takes the time back.",
        find: "clock.pin(state.offset, Number(state.block.timestamp)),",
        replace: "",
        only: "takes a live clock back",
      },
      {
        rule: "A restore takes the base fee back.",
        find: "client.setNextBlockBaseFeePerGas({ baseFeePerGas: state.baseFee }),",
        replace: "",
      },
      {
        rule: "A snapshot from before a newer restore is refused.",
        find: "if (!this.#valid.has(state))",
        replace: "if (this.#valid.size < 0)",
      },
      {
        rule: "A restore ends the snapshots that were taken after it.",
        find: "if (other.number > state.number)",
        replace: "if (other.number > state.number + 1)",
      },
      {
        rule: "A snapshot can be restored again.",
        find: "if (other.number > state.number)",
        replace: "if (other.number >= state.number)",
      },
      {
        rule: "A snapshot whose block a reorg took away is refused.",
        find: "if (there?.hash === block.hash) return;",
        replace: "if (there?.hash !== undefined) return;",
      },
      {
        rule: "A restore drops what waits to be mined.",
        find: "if (mines) await drainMining(client);",
        replace: "",
      },
      {
        rule: "A restore that the node refuses changes nothing.",
        find: "if (!Object.hasOwn(snapshots, snapshotId)) throw gone();",
        replace: "",
        only: "the node no longer holds",
      },
      {
        rule: "A snapshot waits for the block that is being made.",
        find: "if (after.hash === latest.hash) return",
        replace: "if (after.hash.length > 0) return",
        only: "a block is made by itself",
      },
    ],
  },
  {
    file: "sandbox/lib/http/request-gate.ts",
    tests: [gate],
    mutants: [
      {
        rule: "A snapshot waits until no request is under way.",
        find: "if (this.#inside.size === 0) return true;",
        replace: "if (this.#inside.size >= 0) return true;",
        only: "the gate itself",
      },
      {
        rule: "A request that comes during a snapshot waits.",
        find: "while (this.#closed !== null) await this.#closed.promise;",
        replace: "",
        only: "the gate itself",
      },
      {
        rule: "One snapshot is taken at a time.",
        find: "return await this.#exclusive.runExclusive(async () => {",
        replace: "return await (async (run: () => Promise<T>) => await run())(async () => {",
        only: "the gate itself",
      },
      {
        rule: "A step that waits outside of the gate holds up no snapshot.",
        find: "      this.#end(entry);\n      const [result]",
        replace: "      const [result]",
      },
      {
        rule: "A call that waited outside of the gate while a restore ran gets an error that says so.",
        find: "if (signal.aborted) throw",
        replace: "if (signal.aborted && entry === null) throw",
      },
      {
        rule: "A gate that closed and waits too long for what is inside opens again.",
        find: "    this.#open();\n    return false;",
        replace: "    return false;",
        only: "the gate itself",
      },
      {
        rule: "A snapshot that is refused names what has been under way the longest.",
        find: "left.since - right.since",
        replace: "right.since - left.since",
        only: "the gate itself",
      },
    ],
  },
  {
    file: "sandbox/state/store-part.ts",
    tests: [snapshot],
    mutants: [
      {
        rule: "A restore takes the records back.",
        find: "restore: async (image) => await store.import(image),",
        replace: "restore: async () => {},",
      },
    ],
  },
  {
    file: "sandbox/service/faults/faults.ts",
    tests: [snapshot],
    mutants: [
      {
        rule: "A restore takes the faults back.",
        find: "    this.#plan.replace(faults);\n",
        replace: "",
      },
      {
        rule: "A snapshot file brings the faults.",
        find: "    this.#plan.replace(faults);\n",
        replace: "",
        tests: [saved],
      },
    ],
  },
  {
    file: "sandbox/state/request-counter.ts",
    tests: [snapshot],
    mutants: [
      {
        rule: "A restore takes the numbers of requests back, so that the same request ids follow.",
        find: "this.count = count;",
        replace: "this.count += count - count;",
        only: "the same ids again",
      },
      {
        rule: "A snapshot file brings the numbers of requests.",
        find: "this.count = count;",
        replace: "this.count += count - count;",
        tests: [saved],
        only: "a loaded sandbox has",
      },
    ],
  },
  {
    file: "sandbox/service/client/access/lazy-access.ts",
    tests: [snapshot],
    mutants: [
      {
        rule: "A restore gives the client the credential that it had.",
        find: "this.held = kept;",
        replace: "this.held ??= kept;",
      },
      {
        rule: "A snapshot file brings the credential of the client.",
        find: "this.held = kept;",
        replace: "this.held = null;",
        tests: [saved],
        only: "a loaded sandbox has",
      },
    ],
  },
  {
    file: "sandbox/service/receiver/receiver.ts",
    tests: ["test/sandbox/service/receiver/receiver.test.ts"],
    mutants: [
      {
        rule: "A restore takes the deliveries back.",
        find: "this.#arrivals = arrivals;",
        replace: "",
      },
      {
        rule: "A snapshot file brings the deliveries.",
        find: "this.#arrivals = arrivals;",
        replace: "",
        tests: [saved],
        only: "a loaded sandbox has",
      },
    ],
  },
  {
    file: "sandbox/chain/clock/mining.ts",
    tests: [snapshot, "test/testkit/fixture.test.ts"],
    mutants: [
      {
        rule: "A restore takes the mode of mining back.",
        find: "if (now.automine !== automine || now.interval !== interval)",
        replace: "if (now.automine !== automine && now.interval !== interval)",
        tests: [snapshot],
        only: "the mode of mining",
      },
      {
        rule: "A snapshot file brings the mode of mining.",
        find: 'automine ? "transaction" : (interval ?? "never")',
        replace: 'automine || interval === null ? "transaction" : interval',
        tests: [saved],
        only: "a loaded sandbox has",
      },
    ],
  },
  {
    file: "sandbox/open-tools.ts",
    tests: [saved],
    mutants: [
      {
        rule: "A loaded sandbox describes the keys of its snapshot file.",
        find: "    await published.describe();\n",
        replace: "",
        only: "keys of its file",
      },
      {
        rule: "A live sandbox continues from the newest record of its snapshot file.",
        find: "    await chain.clock.continueFrom(newestStoredTime(states));\n",
        replace: "",
        tests: ["test/sandbox/chain/clock/live-offset.test.ts"],
        only: "snapshot file",
      },
    ],
  },
  {
    file: "sandbox/restored-state.ts",
    tests: ["test/server/http/request/rate-limit.test.ts"],
    mutants: [
      {
        rule: "A restore takes the counts of the rate limit back.",
        find: "restore: (counts) => limiter.restore(counts),",
        replace: "restore: () => {},",
      },
    ],
  },
  {
    file: "sandbox/lib/part.ts",
    tests: [parts],
    mutants: [
      {
        rule: "A part that a snapshot file does not have keeps the file from being loaded.",
        find: "if (missing.length > 0)",
        replace: "if (missing.length > 99)",
      },
      {
        rule: "A part of a snapshot file that the sandbox does not have keeps the file from being loaded.",
        find: "if (unknown.length > 0)",
        replace: "if (unknown.length > 99)",
      },
      {
        rule: "A restore that a part ends puts back the parts that were restored before it.",
        find: "await restoreParts([part], before).catch(",
        replace: "await restoreParts([], before).catch(",
      },
      {
        rule: "A restore that a part ends changes neither chain nor store.",
        find: "    await restoreParts(parts, states);\n    await step();",
        replace: "    await step();\n    await restoreParts(parts, states);",
      },
      {
        rule: "The fingerprint has the digests of all parts.",
        find: "if (part.digest === undefined) return {};",
        replace: 'if (part.digest === undefined || part.name !== "store") return {};',
      },
      {
        rule: "A state that a snapshot file cannot have is refused when the file is saved.",
        find: "if (!isJson(encoded))",
        replace: "if (encoded === isJson)",
      },
      {
        rule: "A state that cannot be decoded again is refused when the file is saved.",
        find: "    z.decode(schema, JSON.parse(JSON.stringify(encoded)));\n",
        replace: "",
      },
    ],
  },
  {
    file: "sandbox/state/snapshot-file/capture-content.ts",
    tests: [saved],
    mutants: [
      {
        rule: "A snapshot file brings the gas budget.",
        find: "gas_budget_wei: gasBudgetWei,",
        replace: "gas_budget_wei: 10n ** 18n,",
      },
    ],
  },
  {
    file: "sandbox/state/snapshot-file/snapshot-file.ts",
    tests: [saved],
    mutants: [
      {
        rule: "A snapshot file that does not match its checksum is refused.",
        find: "if (digest(fields, body) !== sha256)",
        replace: "if (sha256.length === 0)",
      },
      {
        rule: "A snapshot file of another format is refused.",
        find: "if (head.version !== version)",
        replace: "if (head.version < version)",
      },
      {
        rule: "A snapshot file of another Anvil is refused.",
        find: "if (head.anvil !== anvilVersion())",
        replace: 'if (head.anvil === "")',
      },
      {
        rule: "A snapshot file of other contracts is refused, also when its checksum is right.",
        find: "if (head.genesis !== (await genesisKey()))",
        replace: 'if (head.genesis === "")',
      },
    ],
  },
  {
    file: "sandbox/state/snapshot-file/complete-options.ts",
    tests: [saved],
    mutants: [
      {
        rule: "A snapshot file is not loaded over a sandbox that is kept.",
        find: "if (kept !== null)",
        replace: "if (kept === undefined)",
      },
      {
        rule: "A snapshot file keeps its seed, mode and programs.",
        find: "if (differing !== null)",
        replace: 'if (differing !== null && asked.seed === "")',
      },
    ],
  },
  {
    file: "sandbox/state/snapshot-file/place-state.ts",
    tests: [saved],
    mutants: [
      {
        rule: "The loaded state has the fingerprint of the saved state.",
        find: "if (fingerprint.digest === loaded.digest) return;",
        replace: "if (fingerprint.digest.length > 0) return;",
      },
    ],
  },
  {
    file: "sandbox/hosts/control/kept-snapshots.ts",
    tests: [explorerTests],
    mutants: [
      {
        rule: "A restore over the control API ends the later snapshots.",
        find: "kept.filter(({ number }) => number <= entry.number)",
        replace: "kept.filter(({ number }) => number <= entry.number + 1)",
      },
      {
        rule: "A snapshot over the control API that there is not is reported as that.",
        find: '"not_found",',
        replace: '"state_conflict",',
      },
    ],
  },
  {
    file: "sandbox/state/replace-dead-anvil.ts",
    tests: ["test/end-to-end/anvil-replaced.test.ts"],
    mutants: [
      {
        rule: "An Anvil that is killed while it starts is started again.",
        find: 'error instanceof AnvilError && error.code !== "start_failed"',
        replace: "error instanceof AnvilError",
        only: "while it takes the place of another one",
      },
    ],
  },
  {
    file: "sandbox/state/fingerprint.ts",
    tests: ["test/determinism.test.ts"],
    mutants: [
      {
        rule: "A fingerprint does not depend on ports.",
        find: '.replaceAll(loopbackUrl, "{url}")',
        replace: "",
      },
      {
        rule: "A fingerprint covers the block.",
        find: "block: { number: Number(number), hash, state_root: stateRoot }",
        replace: "block: { number: 0, hash: chain.deployment.epoch, state_root: stateRoot }",
        tests: [snapshot],
        only: "a fingerprint tells of the newest",
      },
    ],
  },
];
