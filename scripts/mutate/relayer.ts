import type { MutantGroup } from "./mutant.ts";

const submit = "test/relayer/submission/submit.test.ts";
const fault = "test/relayer/faults/fault.test.ts";
const reorg = "test/relayer/recovery/reorg.test.ts";
const follow = "test/relayer/recovery/follow.test.ts";
const attempts = "test/relayer/submission/attempts.test.ts";
const crash = "test/relayer/recovery/crash.test.ts";
const precondition = "test/relayer/submission/precondition.test.ts";

export const relayer: readonly MutantGroup[] = [
  {
    file: "relayer/journal/gas-budget.ts",
    tests: [submit],
    mutants: [
      {
        rule: "An operation that takes the last of the budget is taken.",
        find: "if (left < wei)",
        replace: "if (left <= wei)",
      },
      {
        rule: "The gas budget that operations in progress reserve is not available.",
        find: "BigInt(budget.limit_wei) - BigInt(budget.reserved_wei) - BigInt(budget.spent_wei)",
        replace: "BigInt(budget.limit_wei) - BigInt(budget.spent_wei)",
      },
      {
        rule: "The cost of a transaction is spent once, however often it is settled.",
        find: "sum(after.map(({ cost_wei }) => cost_wei)) - BigInt(before?.cost_wei ?? 0)",
        replace: "sum(after.map(({ cost_wei }) => cost_wei))",
        tests: [reorg, submit],
      },
      {
        rule: "A reservation ends when its operation is settled.",
        find: "sum(after.map(({ reserved_wei }) => reserved_wei)) - BigInt(before?.reserved_wei ?? 0)",
        replace: 'sum(after.map(({ reserved_wei }) => (before === null ? reserved_wei : "0")))',
      },
      {
        rule: "Operations of a program are numbered without gaps.",
        find: "before === null ? budget.next_sequence + 1 : budget.next_sequence",
        replace: "budget.next_sequence + 1",
      },
      {
        rule: "The limit of a budget is the one that the sandbox has now.",
        find: "limit_wei: context.gasBudgetWei.toString(),",
        replace: "limit_wei: stored?.limit_wei ?? (context.gasBudgetWei / 2n).toString(),",
      },
    ],
  },
  {
    file: "relayer/submission/accept-attempt.ts",
    tests: [submit],
    mutants: [
      {
        rule: "An operation that failed before it had a nonce may be tried again.",
        find: 'if (existing.status !== "failed" || (await hasLiveAttempt(context, existing))) return existing;',
        replace: "if (existing.status.length > 0) return existing;",
      },
      {
        rule: "An operation that was abandoned begins no attempt while a reorg has brought the one before back.",
        find: 'existing.status !== "failed" || (await hasLiveAttempt(context, existing))',
        replace: 'existing.status !== "failed"',
        tests: ["test/relayer/recovery/abandon.test.ts"],
      },
      {
        rule: "Two that are submitted at once cannot both have the last of the budget.",
        find: "    requireAvailable(budget, reservation);\n",
        replace: "",
      },
      {
        rule: "An operation keeps its number when it is tried again.",
        find: "kept.sequence ?? budget.next_sequence",
        replace: "budget.next_sequence",
      },
      {
        rule: "An operation keeps its time when it is tried again.",
        find: "kept.created_at ?? (await timestamp(context))",
        replace: "await timestamp(context)",
        only: "can be repeated once",
      },
      {
        rule: "A further attempt begins only when the attempt before can come to nothing any more.",
        find: "if (await hasLiveAttempt(context, reverted)) return null;",
        replace: "",
        tests: [attempts],
        only: "begins no third attempt",
      },
      {
        rule: "A further attempt of what would revert again does not begin.",
        find: "if ((await simulateNow(context, reverted)) !== null) return null;",
        replace: "",
        tests: [attempts, "test/server/api/operations/refunds/refunds.test.ts"],
      },
      {
        rule: "A further attempt counts one more.",
        find: "attempt: reverted.attempt + 1",
        replace: "attempt: reverted.attempt",
        tests: [attempts],
      },
      {
        rule: "An intent of an unknown signer is refused.",
        find: "if (!context.accounts.has(from))",
        replace: "if (from.length === 0)",
      },
    ],
  },
  {
    file: "relayer/recovery/abandon.ts",
    tests: ["test/relayer/recovery/abandon.test.ts"],
    mutants: [
      {
        rule: "An abandoned attempt reserves nothing.",
        find: 'superseded: true, reserved_wei: "0" }',
        replace: "superseded: true }",
      },
      {
        rule: "An attempt that can still be mined is not abandoned.",
        find: 'if (sighting === "waiting")',
        replace: 'if (sighting === "nonce_taken" && nonce < 0)',
      },
      {
        rule: "An attempt is abandoned only when what took its nonce is confirmed.",
        find: "(await readNonce(node, from, confirmed)) <= nonce",
        replace: "(await readNonce(node, from, confirmed)) < 0",
      },
      {
        rule: "A transaction that took a nonce is confirmed once it has the required confirmations.",
        find: "(await readHead(node)) - confirmations + 1",
        replace: "(await readHead(node)) - confirmations",
      },
    ],
  },
  {
    file: "relayer/submission/earlier-attempts.ts",
    tests: [attempts, "test/relayer/recovery/abandon.test.ts"],
    mutants: [
      {
        rule: "The cost of an earlier attempt is reported with the operation.",
        find: "toRelayOperation(current, await context.journal.superseded(current))",
        replace: "toRelayOperation(current, [])",
      },
    ],
  },
  {
    file: "relayer/submission/simulate.ts",
    tests: [submit],
    mutants: [
      {
        rule: "An operation that fails before it has a nonce reserves nothing.",
        find: 'reserved_wei: "0"',
        replace: "reserved_wei: operation.reserved_wei",
      },
      {
        rule: "A call is simulated at the time of the next block.",
        find: "gas: BigInt(gas_limit) }, time)",
        replace: "gas: BigInt(gas_limit) }, time - 1)",
        tests: ["test/relayer/submission/deadline.test.ts"],
      },
      {
        rule: "Only a revert fails an operation; what the node says otherwise may pass.",
        find: " || error.rpcCode !== executionReverted",
        replace: "",
        tests: [fault],
      },
    ],
  },
  {
    file: "relayer/submission/settle.ts",
    tests: [submit],
    mutants: [
      {
        rule: "A transaction costs the gas that it used at the price that it paid.",
        find: "cost_wei: (gasUsed * receipt.effectiveGasPrice)",
        replace: "cost_wei: (BigInt(operation.gas_limit) * receipt.effectiveGasPrice)",
      },
      {
        rule: "A mined operation reserves nothing.",
        find: 'reserved_wei: "0"',
        replace: "reserved_wei: operation.reserved_wei",
      },
      {
        rule: "A reorg counts, also when the transaction is mined again before anyone looks.",
        find: "operation.reorg_count + (operation.block_hash === null ? 0 : 1)",
        replace: "operation.reorg_count",
        tests: [follow],
      },
      {
        rule: "An operation is confirmed at the last confirmation and not before.",
        find: "if (confirmations < context.confirmations)",
        replace: "if (confirmations < context.confirmations - 1)",
      },
      {
        rule: "Confirmations are counted from the block that includes the transaction.",
        find: "head - operation.block_number + 1",
        replace: "head - operation.block_number",
      },
      {
        rule: "A block that has left the chain does not count as a confirmation.",
        find: "if (receipt?.blockHash !== operation.block_hash) return 0;",
        replace: "",
        tests: [reorg],
      },
      {
        rule: "A confirmation has the time of the block that brought it.",
        find: "operation.block_number + context.confirmations - 1",
        replace: "operation.block_number",
        tests: [submit],
        only: "a confirmation has the time",
      },
      {
        rule: "A transaction that reverted is reported as reverted.",
        find: 'currentTransaction(operation).outcome === "reverted" ? "reverted" : "confirmed"',
        replace: '"confirmed"',
      },
      {
        rule: "The transactions that were not mined are reported as replaced.",
        find: 'outcome: transaction.hash === hash ? outcome : "replaced",',
        replace: "outcome,",
        tests: [fault],
        only: "a raised fee",
      },
    ],
  },
  {
    file: "relayer/recovery/undo-settlement.ts",
    tests: [reorg],
    mutants: [
      {
        rule: "A transaction that a reorg removed reserves its gas again.",
        find: "reserved_wei: reservationOf(BigInt(operation.gas_limit), BigInt(operation.max_fee_per_gas)).toString()",
        replace: 'reserved_wei: "0"',
      },
      {
        rule: "A transaction that a reorg removed has cost nothing.",
        find: "    cost_wei: null,\n",
        replace: "",
      },
    ],
  },
  {
    file: "relayer/submission/sign.ts",
    tests: [fault],
    mutants: [
      {
        rule: "Foreign use of a signer needs a person.",
        find: "if (chainNonce > expected) return null;",
        replace: "",
        only: "foreign use of the signer",
      },
      {
        rule: "An operation that a person resumed skips the nonces that were used elsewhere.",
        find: "Math.max(last === undefined ? chainNonce : last + 1, operation.nonce_floor)",
        replace: "last === undefined ? chainNonce : last + 1",
        only: "foreign use of the signer",
      },
      {
        rule: "Two operations never claim one nonce.",
        find: "last === undefined ? chainNonce : last + 1",
        replace: "last === undefined ? chainNonce : Math.min(last + 1, chainNonce)",
        tests: [submit],
      },
      {
        rule: "An operation that needs a person says why.",
        find: "status_reason: reason",
        replace: "status_reason: null",
        only: "foreign use of the signer",
      },
    ],
  },
  {
    file: "relayer/submission/bump.ts",
    tests: [fault],
    only: "a raised fee",
    mutants: [
      {
        rule: "A superseded attempt whose nonce is free again is cancelled, and not sent.",
        find: 'const nothing = { to: superseded.from, calldata: "0x", gas_limit: transferGas } as const;',
        replace: "const nothing = superseded;",
        tests: ["test/relayer/recovery/abandon.test.ts"],
        only: "reorg",
      },
      {
        rule: "A raised fee is at least a tenth more.",
        find: "(BigInt(fee) * 9n + 7n) / 8n",
        replace: "(BigInt(fee) * 107n) / 100n",
        tests: ["test/relayer/submission/raised-fee.test.ts"],
      },
      {
        rule: "A raised fee that the budget does not cover is not sent.",
        find: "available(budget) < more",
        replace: "available(budget) < 0n",
      },
      {
        rule: "A raised fee reserves the difference.",
        find: "reserved_wei: reservationOf(BigInt(operation.gas_limit), fees.maxFeePerGas).toString(),",
        replace: "reserved_wei: operation.reserved_wei,",
      },
      {
        rule: "The transaction with the raised fee is the current one.",
        find: "    hash: transaction.hash,\n",
        replace: "",
      },
      {
        rule: "A raised fee that takes exactly what the budget has left is sent.",
        find: "available(budget) < more",
        replace: "available(budget) <= more",
        tests: ["test/relayer/faults/fault.test.ts"],
        only: "one wei",
      },
      {
        rule: "A raised fee for which one wei is missing is not sent.",
        find: "available(budget) < more",
        replace: "available(budget) < more - 1n",
        tests: ["test/relayer/faults/fault.test.ts"],
        only: "one wei",
      },
    ],
  },
  {
    file: "relayer/submission/await-receipt.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A nonce that the node shows before the receipt is looked at again.",
        find: 'if (first !== "nonce_taken") return first;',
        replace: 'if (first !== "waiting") return first;',
        tests: ["test/relayer/submission/late-receipt.test.ts"],
      },
      {
        rule: "A nonce that the chain has used, and not for this operation, is taken.",
        find: "chainNonce > operation.nonce",
        replace: "chainNonce >= operation.nonce",
        tests: [submit],
      },
    ],
  },
  {
    file: "relayer/submission/broadcast.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A refusal of a transaction that the node has is none.",
        find: "return known ? null : error;",
        replace: "return error;",
        only: "a lost answer|the same bytes|sent twice",
      },
      {
        rule: "A transaction keeps the time of its first broadcast.",
        find: "broadcast_at: operation.broadcast_at ?? broadcastAt",
        replace: "broadcast_at: broadcastAt",
        tests: [fault],
        only: "the node forgets while it waits",
      },
    ],
  },
  {
    file: "relayer/submission/require-precondition.ts",
    tests: [precondition],
    mutants: [
      {
        rule: "Nothing is sent while the precondition cannot be read.",
        find: "throw new RpcUnavailableError(`The precondition of ${operation.operation_id}`, error);",
        replace: "whyNot = error === undefined ? null : null;",
      },
      {
        rule: "The cancellation of a withdrawn attempt is sent though the precondition does not hold.",
        find: "if (operation.superseded) return;",
        replace: "if (operation.superseded && operation.nonce === null) return;",
      },
      {
        rule: "A withdrawn attempt that has a nonce is kept, so that the nonce is filled.",
        find: "if (operation.nonce === null) {",
        replace: "if (operation.attempt > 0) {",
      },
      {
        rule: "An operation that is withdrawn before it has a nonce gives its reservation back.",
        find: 'reserved_wei: "0",\n    error',
        replace: "reserved_wei: operation.reserved_wei,\n    error",
      },
    ],
  },
  {
    file: "relayer/submission/broadcast.ts",
    tests: [precondition],
    mutants: [
      {
        rule: "The precondition is asked before every broadcast.",
        find: "  await requirePrecondition(context, operation);\n",
        replace: "",
      },
    ],
  },
  {
    file: "relayer/submission/drive.ts",
    tests: [reorg],
    mutants: [
      {
        rule: "The precondition is asked before a nonce is claimed.",
        find: "  await allowed;\n",
        replace: "",
        tests: [precondition],
      },
      {
        rule: "The purpose of an operation is recorded before it claims a nonce.",
        find: "  await context.beforeNonce[simulated.kind]?.(simulated, await readTime(context));\n",
        replace: "",
        tests: ["test/server/api/operations/refunds/refunds.test.ts"],
      },
      {
        rule: "A transaction that the node has and has not mined is cancelled when its precondition does not hold.",
        find: "  await requirePrecondition(context, looked);\n",
        replace: "",
        tests: [precondition],
      },
      {
        rule: "An operation sends no predecessor whose precondition does not hold.",
        find: "if (other.superseded || !(await maySend(context, other)))",
        replace: "if (other.superseded)",
        tests: [precondition],
      },
      {
        rule: "A withdrawn attempt is cancelled at once.",
        find: "if (superseded !== null) await driveLocked(context, superseded, waitMode);",
        replace: "",
        tests: [precondition],
      },
      {
        rule: "A chain that is exchanged after the signature gets no broadcast.",
        find: "const sameEpoch = requireEpoch(context, claim.operation);",
        replace: "const sameEpoch = Promise.resolve();",
      },
      {
        rule: "A nonce is claimed on disk before its transaction is sent.",
        find: "await Promise.allSettled([claim.durable, sameEpoch]);\n    await Promise.all([claim.durable, sameEpoch]);",
        replace: "await sameEpoch;",
        tests: [crash],
        only: "if the disk refuses an assigned nonce",
      },
      {
        rule: "A new operation sends what a reorg took before it.",
        find: "const unblocked = await sendPredecessors(context, unmined);",
        replace: "const unblocked = false;",
      },
      {
        rule: "A transaction that the node has forgotten is sent again.",
        find: "if (!(await knowsTransaction(context.node, currentTransaction(unmined).hash)))",
        replace: "if (currentTransaction(unmined).hash.length === 0)",
        tests: [fault],
        only: "dropped transaction|forgets",
      },
      {
        rule: "A broadcast that the node accepted before the process could record it is recorded later.",
        find: "if (!isRecorded(unmined))",
        replace: "if (unmined.hash === null)",
        tests: [fault],
      },
      {
        rule: "A transaction that waits behind a gap is sent again.",
        find: "const freed = await freeStranded(context, unmined);",
        replace: "const freed = false;",
        tests: [fault, follow],
      },
      {
        rule: "An operation that needs a person is not concluded again.",
        find: 'if (operation.status === "needs_attention") return operation;',
        replace: "",
        tests: [fault],
        only: "foreign use of the signer",
      },
    ],
  },
  {
    file: "relayer/recovery/follow.ts",
    tests: [follow],
    mutants: [
      {
        rule: "An announced head that follows the last one shows a reorg of what was confirmed since.",
        find: "if ((await findReorged(context, epoch, head.number - 1, isInHead)).length > 0) return false;",
        replace: "",
        only: "announced head",
      },
      {
        rule: "An announced head has the operations looked at that wait for a confirmation.",
        find: "if ((await waitingOperations(context, epoch)).length > 0) return false;",
        replace: "",
        only: "announced head",
      },
      {
        rule: "A new head leaves alone what waits for a person.",
        find: '({ status }) => status !== "needs_attention",',
        replace: "() => true,",
        tests: [follow],
        only: "needs attention costs",
      },
      {
        rule: "A new head leaves alone what has no nonce yet.",
        find: " && operation.nonce !== null,",
        replace: ",",
      },
      {
        rule: "A new head leaves alone what belongs to another epoch.",
        find: "operation.epoch === epoch && operation.nonce !== null,",
        replace: "operation.nonce !== null,",
        tests: [follow],
        only: "operations of another epoch",
      },
      {
        rule: "A new head is followed in the order of nonces.",
        find: "(left.nonce ?? 0) - (right.nonce ?? 0)",
        replace: "(right.nonce ?? 0) - (left.nonce ?? 0)",
        tests: [follow],
        only: "in the order of nonces",
      },
      {
        rule: "A reorg of what was confirmed is seen with the next head.",
        find: "...(await findReorged(context, epoch, fork, isOnChain))",
        replace: "",
      },
      {
        rule: "An operation whose block a reorg took is not answered as settled while the node does not say what became of it.",
        find: "  throw new OutcomeUnknownError(observed);",
        replace: "  return observed;",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
        only: "answers 503 while the node",
      },
      {
        rule: "Lists do not show an operation whose block a reorg took while the node does not say what became of it.",
        find: ".filter(({ block_number }) => block_number !== null)",
        replace: ".filter(({ block_number }) => block_number === null)",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
        only: "the node",
      },
      {
        rule: "A look at which the node failed is repeated.",
        find: "(await isBlockOnChain(context, looked))",
        replace: "true",
        tests: ["test/server/api/operations/purchases/reorgs.test.ts"],
        only: "whose first look at the transaction fails",
      },
      {
        rule: "Who only observes sends nothing.",
        find: 'lookAtHead(context, "sends_nothing"',
        replace: 'lookAtHead(context, "never"',
      },
      {
        rule: "A head that was looked at costs nothing the next time.",
        find: 'if ((await lookAtHeld(held, isOnChain)) === "seen" && seen) context.trail.add(head, epoch);',
        replace: "await lookAtHeld(held, isOnChain);",
      },
    ],
  },
  {
    file: "relayer/recovery/head-trail.ts",
    tests: [follow],
    mutants: [
      {
        rule: "A reorg up to 128 blocks deep is seen without a trail.",
        find: "return head.number - deepestReorg;",
        replace: "return head.number;",
        tests: [follow, reorg],
      },
      {
        rule: "A head that has left the chain is no longer on the trail.",
        find: "      this.#seen.pop();\n",
        replace: "      return last.number;\n",
      },
    ],
  },
  {
    file: "relayer/recovery/recover.ts",
    tests: [reorg, crash],
    mutants: [
      {
        rule: "Recovery repairs what was confirmed and then reorged while the relayer was stopped.",
        find: "[...unsettled, ...elsewhere]",
        replace: "[...unsettled]",
        tests: [reorg],
      },
      {
        rule: "Recovery takes up what has no nonce last.",
        find: "left.nonce ?? Number.MAX_SAFE_INTEGER",
        replace: "left.nonce ?? 0",
        tests: [crash],
        only: "recovery resumes",
      },
      {
        rule: "Recovery leaves alone what belongs to another epoch.",
        find: ".filter((operation) => operation.epoch === epoch)",
        replace: "",
        tests: [reorg],
      },
    ],
  },
  {
    file: "relayer/recovery/resume.ts",
    tests: [fault],
    only: "foreign use of the signer",
    mutants: [
      {
        rule: "Only an operation that needs a person is resumed.",
        find: 'if (operation.status !== "needs_attention")',
        replace: "if (operation.status.length === 0)",
      },
      {
        rule: "An operation that has a nonce keeps it when it is resumed.",
        find: 'operation.nonce === null ? "accepted" : "signed"',
        replace: '"accepted"',
      },
    ],
  },
  {
    file: "relayer/submission/note-failure.ts",
    tests: [reorg],
    mutants: [
      {
        rule: "A settled operation keeps its own status reason while the node is away.",
        find: "if (!underWay.includes(operation.status)) return operation;",
        replace: "",
      },
    ],
  },
  {
    file: "relayer/journal/relay-operation.ts",
    tests: [submit],
    mutants: [
      {
        rule: "An earlier attempt that took effect after all is the one that is reported.",
        find: "superseded.find(hasEffect) ?? current",
        replace: "superseded.find(({ attempt }) => attempt < 0) ?? current",
        tests: ["test/relayer/submission/attempts.test.ts"],
      },
      {
        rule: "A cancellation is not the operation's transaction.",
        find: 'return purpose !== "cancel" && outcome === "succeeded";',
        replace: 'return outcome === "succeeded";',
        tests: [precondition],
      },
      {
        rule: "An operation of another epoch is another operation.",
        find: 'deriveId("op", [epoch, intent.program',
        replace: 'deriveId("op", [intent.program',
        tests: [reorg],
      },
      {
        rule: "The signed bytes of a transaction are not told.",
        find: "transactions: _raw,",
        replace: "",
      },
    ],
  },
  {
    file: "relayer/node/decode-revert.ts",
    tests: [submit],
    mutants: [
      {
        rule: "An unknown custom error is named by its selector.",
        find: "return { name: data.slice(0, 10), args: {}, data };",
        replace: "return null;",
        tests: [submit],
        only: "a call that reverts",
      },
    ],
  },
];
