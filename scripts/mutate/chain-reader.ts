import type { MutantGroup } from "./mutant.ts";

const attacks = "test/check-contract/attacks/attacks.test.ts";

const requestTime = "test/server/http/request/request-time.test.ts";

const movedChain = "test/server/chain/moved-chain.test.ts";

export const chainReader: readonly MutantGroup[] = [
  {
    file: "server/http/request/request-time.ts",
    tests: [requestTime],
    mutants: [
      {
        rule: "A request that began at an earlier time starts over.",
        find: "if (now === expected) throw error;",
        replace: "throw error;",
      },
      {
        rule: "A read counts only at the time that was read.",
        find: "      await time.confirm();\n",
        replace: "",
        only: "waits for the node",
      },
    ],
  },
  {
    file: "server/http/run-operation.ts",
    tests: [requestTime],
    mutants: [
      {
        rule: "Nothing is stored before the time is confirmed.",
        find: "      context.confirmTime(),\n",
        replace: "",
        only: "issued once",
      },
    ],
  },
  {
    file: "server/http/faults/meet-api-fault.ts",
    tests: [requestTime],
    mutants: [
      {
        rule: "A fault is taken when the time is confirmed.",
        find: "  await confirmTime();\n",
        replace: "",
        only: "a fault before the commit",
      },
    ],
  },
  {
    file: "server/chain/request-head.ts",
    tests: [requestTime],
    mutants: [
      {
        rule: "No id is taken before the time is confirmed.",
        find: "Promise.all([reading, this.#confirm()])",
        replace: "Promise.all([reading, null])",
        only: "no id is lost",
      },
    ],
  },
  {
    file: "server/chain/request-head.ts",
    tests: [movedChain],
    mutants: [
      {
        rule: "A request records nothing that it read at a block that has left the chain.",
        find: "if (point !== null && !(await this.#reader.isOnChain(point))) throw new ChainMovedError();",
        replace: "",
        only: "during the request",
      },
      {
        rule: "A block that is expected to be the newest is not taken for it.",
        find: "reads !== undefined && head.hash === early?.hash",
        replace: "reads !== undefined && head.hash !== null",
        only: "were made before a block",
      },
    ],
  },
  {
    file: "server/chain/open-chain-reader.ts",
    tests: [movedChain],
    mutants: [
      {
        rule: "A request knows nothing that an earlier request has read.",
        find: "forRequest: (confirm) => ({ ...reader, ...openRequestReader(node, confirm) }),",
        replace:
          "forRequest: ((kept: never) => () => kept)(openRequestReader(node, async () => {}) as never),",
        only: "since the last request",
      },
      {
        rule: "A transaction that a request has observed is found by its hash.",
        find: "observed.get(hash)",
        replace: "[...observed.values()][0]",
        only: "several transactions",
      },
    ],
  },
  {
    file: "server/domain/relay.ts",
    tests: ["test/end-to-end/lifecycle.test.ts"],
    mutants: [
      {
        rule: "A request reads the chain again after its relayed transaction.",
        find: ".finally(() => services.chain.renew())",
        replace: "",
      },
    ],
  },
  {
    file: "server/chain/observe-transaction.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A transaction whose receipt is there is read from its block.",
        find: "receipt === undefined || (found !== undefined && found.blockHash !== null)",
        replace: "receipt === undefined || found === undefined || found.blockHash !== null",
        tests: [movedChain],
        only: "mined between two answers",
      },
      {
        rule: "A transaction in a block after the newest that was read is observed again.",
        find: "block !== null && block.number > head.number && ",
        replace: "block === null && ",
        tests: [movedChain],
        only: "comes after the newest one",
      },
      {
        rule: "A node that lags behind the block of a transaction is not asked again and again.",
        find: " && (await readHeadBlock(node)).number >= block.number",
        replace: "",
        tests: [attacks],
        only: "lags behind",
      },
      {
        rule: "A transaction that the node is mining is waited for.",
        find: "envelope !== null && (await awaitAutomine(node))",
        replace: "envelope !== null && envelope === null",
        tests: ["test/server/chain/mined.test.ts"],
      },
      {
        rule: "A transaction that the node still answers from its pool is read as its block has it.",
        find: "if (receipt === undefined || (found !== undefined && found.blockHash !== null)) return found;",
        replace: "if (found === undefined || found.nonce >= 0 || receipt === undefined) return found;",
        tests: ["test/server/chain/mined.test.ts"],
      },
    ],
  },
  {
    file: "server/chain/deployed-node.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A request takes the answer to a question only for the same question.",
        find: "JSON.stringify([question.method, question.params])",
        replace: "JSON.stringify([question.method])",
        tests: [movedChain],
      },
      {
        rule: "A node with another chain id is refused.",
        find: "chainId !== deployment.chainId || ",
        replace: "",
        tests: ["test/server/api/errors/errors.test.ts"],
        only: "chain_mismatch",
      },
      {
        rule: "A node of another epoch with the same chain id is refused.",
        find: "chainId !== deployment.chainId || epochBlock?.hash !== deployment.epochBlock.hash",
        replace: "chainId !== deployment.chainId",
        only: "a node of another chain with the same chain id",
      },
    ],
  },
  {
    file: "server/chain/head-reader.ts",
    tests: ["test/server/api/operations/purchases/one-moment.test.ts"],
    mutants: [
      {
        rule: "State that was read while the chain reorganized is read again.",
        find: 'if (place === "gone") continue;',
        replace: "",
        tests: [movedChain],
        only: "a reorg takes its block",
      },
      {
        rule: "Reads at a block that is no longer the newest are repeated.",
        find: 'if (place === "older") {',
        replace: "if (place === null) {",
        tests: [movedChain],
        only: "a read returns no figure",
      },
      {
        rule: "A read is tried again when a reorg disturbs it.",
        find: "const headRetries = 3;",
        replace: "const headRetries = 1;",
      },
      {
        rule: "State that was read at an earlier block is read again at the newest.",
        find: "early !== undefined && head.hash === seen?.hash",
        replace: "early !== undefined",
        tests: [movedChain],
        only: "a read is of the newest block",
      },
    ],
  },
  {
    file: "server/chain/read-chain-purchase.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "The payment logs add up to what the contract says was paid.",
        find: "if (total !== paid)",
        replace: "if (total < 0n)",
        tests: ["test/server/chain/payment-logs.test.ts"],
      },
      {
        rule: "Each payment log tells the sum of the logs up to it.",
        find: 'if (fields["paidTotal"] !== total.toString())',
        replace: "if (total < 0n)",
        tests: ["test/server/chain/payment-logs.test.ts"],
      },
      {
        rule: "Figures are read at one block.",
        find: "claimHash: unlessZero(figures.claimHash)",
        replace: "claimHash: figures.claimHash",
        tests: [
          "test/server/api/operations/refunds/decisions.test.ts",
          "test/server/api/operations/wallets/wallet-submissions.test.ts",
        ],
      },
    ],
  },
  {
    file: "server/chain/wallet-code.ts",
    tests: [attacks],
    mutants: [
      {
        rule: "A delegated wallet is distinguished from a contract.",
        find: 'const delegationPrefix = "0xef0100";',
        replace: 'const delegationPrefix = "0xef0101";',
        tests: ["test/server/domain/binding/reported-sides.test.ts"],
      },
      {
        rule: "A contract wallet's signature counts only when the contract answers the magic value.",
        find: "return answer === magicValue;",
        replace: 'return answer !== "0x";',
        tests: ["test/server/api/operations/refunds/contract-signatures.test.ts"],
      },
    ],
  },
  {
    file: "server/chain/code-at.ts",
    tests: ["test/server/chain/old-blocks.test.ts"],
    mutants: [
      {
        rule: "A wallet's code is read in the transaction's block, so that a delegation that has ended since counts.",
        find: "client.getCode({ address, blockHash: block.hash })",
        replace: "client.getCode({ address })",
        tests: [attacks],
        only: "a payment by a buyer with an EIP-7702 delegation",
      },
      {
        rule: "A block whose state the node has dropped does not keep a step from being confirmed.",
        find: "/BlockOutOfRange/.test(answer.details)",
        replace: "answer.details.length === 0",
      },
      {
        rule: "A delegation of the sender in a later block makes its code of then unknown.",
        find: "if (sameAddress(await signerOf(authorization), address)) return true;",
        replace: "if (authorization.nonce < 0) return true;",
      },
      {
        rule: "A delegation of another account in a later block changes nothing.",
        find: "if (sameAddress(await signerOf(authorization), address)) return true;",
        replace: "return authorization.nonce >= 0;",
      },
      {
        rule: "Without a later delegation the code is the one of now.",
        find: 'return (await delegatesAfter(client, address, block)) ? "unknown" : code;',
        replace: 'return (await delegatesAfter(client, address, block)) ? "unknown" : undefined;',
      },
      {
        rule: "A delegation of the sender in the transaction's own block is in the code of then.",
        find: ".filter(({ hash }) => hash !== block.hash)",
        replace: ".filter(({ hash }) => hash !== null)",
        tests: ["test/server/chain/old-blocks.test.ts"],
        only: "whose state the node has dropped",
      },
      {
        rule: "No block is passed over between two pages of later blocks.",
        find: "from += pageSize)",
        replace: "from += pageSize + 1n)",
        tests: ["test/server/chain/old-blocks.test.ts"],
        only: "whose state the node has dropped",
      },
      {
        rule: "A delegation of the sender in the newest block counts, also where that is a page of its own.",
        find: "from <= head;",
        replace: "from < head;",
        tests: ["test/server/chain/old-blocks.test.ts"],
        only: "whose state the node has dropped",
      },
    ],
  },
  {
    file: "server/api/views/purchases.ts",
    tests: ["test/server/api/operations/purchases/figures.test.ts"],
    mutants: [
      {
        rule: "An unpaid purchase is expired once its pay deadline has passed.",
        find: "onChain.paid === 0n && now > purchase.pay_deadline",
        replace: "onChain.paid === 0n && now > purchase.claim_deadline",
      },
      {
        rule: "A purchase whose offer came too late is expired.",
        find: 'purchase.status === "created" && now > purchase.offer_deadline',
        replace: 'purchase.status === "created" && now > purchase.pay_deadline',
      },
      {
        rule: "A purchase is not expired in the last second of its pay deadline.",
        find: "onChain.paid === 0n && now > purchase",
        replace: "onChain.paid === 0n && now >= purchase",
      },
      {
        rule: "The outstanding amount is the amount less the payments on the chain.",
        find: "outstanding: (amount - onChain.paid)",
        replace: "outstanding: (amount - reconciled)",
      },
      {
        rule: "A purchase that is paid in part is partially paid.",
        find: "return paid < amount ?",
        replace: "return paid <= amount ?",
      },
      {
        rule: "The refunded figure is the chain's.",
        find: "refunded: onChain.refunded.toString()",
        replace: 'refunded: purchase.refund_id === null ? "0" : purchase.amount',
        tests: ["test/server/api/operations/refunds/refunds.test.ts"],
      },
    ],
  },
  {
    file: "server/chain/read-funding.ts",
    tests: ["test/server/api/operations/refunds/refunds.test.ts"],
    mutants: [
      {
        rule: "The cover of a purchase is read at the enrollment that the chain has for it.",
        find: "const args = [program, merchantRef] as const;\n    const state",
        replace: "const args = [program, id] as const;\n  const state",
      },
    ],
  },
  {
    file: "server/api/views/programs.ts",
    tests: ["test/server/api/operations/programs/program.test.ts"],
    mutants: [
      {
        rule: "A program shows the bounds that the chain has now.",
        find: "maxPurchase, openBudget, validUntil } = onChain;",
        replace: "} = onChain;\n  const { maxPurchase, openBudget, validUntil } = program.bounds;",
      },
      {
        rule: "A program shows the operator that the chain has now.",
        find: "address: operator,",
        replace: "address: operator && program.operator,",
      },
      {
        rule: "A program shows the commitment signer that the chain has now.",
        find: "commitment_signer: commitmentSigner,",
        replace: "commitment_signer: commitmentSigner && program.commitmentSigner,",
      },
      {
        rule: "Bounds that end after the last timestamp are shown with that.",
        find: "toChainSeconds(validUntil)",
        replace: "validUntil",
      },
    ],
  },
];
