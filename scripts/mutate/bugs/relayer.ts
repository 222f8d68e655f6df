import type { Bug } from "../bug.ts";

export const relayer: readonly Bug[] = [
  {
    rule: "Two relay operations never claim one nonce.",
    of: "KeyedMutex.run",
    bug: () => async (_key, step) => await step(),
    tests: "/submit.",
    only: /use 32 nonces without a gap/,
  },
  {
    rule: "Foreign use of a signer needs a person.",
    of: "claimNonce",
    bug: (original) => (context, operation, chain) =>
      original(context, operation, { ...chain, chainNonce: 0 }),
    tests: "/fault.",
    only: /before a nonce is assigned makes the operation need attention/,
  },
  {
    rule: "A relay operation belongs to one chain epoch.",
    of: "requireEpoch",
    bug: () => async (context) => (await context.chain.identity()).chainId,
    tests: "/reorg.",
    only: /in another chain epoch nothing is sent/,
  },
  {
    rule: "A relay operation that failed before it had a nonce is tried again.",
    of: "accept",
    bug: (original) => async (context, intent, id, epoch) =>
      (await context.journal.read(id)) ?? (await original(context, intent, id, epoch)),
    tests: "/submit.",
    only: /can be repeated once the contract allows it/,
  },
  {
    rule: "A relay operation whose transaction reverted begins its next attempt.",
    of: "acceptAgain",
    bug: () => async () => null,
    tests: "/attempts.",
    only: /is collected by the next attempt/,
  },
  {
    rule: "A further attempt begins only when the attempt before can no longer be mined.",
    of: "hasLiveAttempt",
    bug: () => async () => false,
    tests: "/attempts.",
    only: /begins no third attempt/,
  },
  {
    rule: "A call that the contract refuses fails without a nonce.",
    of: "simulateCall",
    bug: () => async () => {},
    tests: "/submit.",
    only: /fails without a nonce/,
  },
  {
    rule: "A call is simulated at the time of the next block.",
    of: "simulateCall",
    bug: (original) => (node, call, time) => original(node, call, time - 1),
    tests: "/deadline.",
    only: /one second late/,
  },
  {
    rule: "A transaction that reverted is reported as reverted.",
    of: "asConfirmed",
    bug:
      (original) =>
      (...given) => ({ ...original(...given), status: "confirmed" }),
    tests: "/submit.",
    only: /a transaction that reverts on chain/,
  },
  {
    rule: "A relay operation is confirmed at the last confirmation and not before.",
    of: "confirm",
    bug: (original) => (context, operation) =>
      original({ ...context, confirmations: context.confirmations - 1 }, operation),
    tests: "/submit.",
    only: /confirmations are counted/,
  },
  {
    rule: "A mined relay operation whose block has left the chain is broadcast again.",
    of: "undoSettlement",
    bug: () => async (_context, operation) => operation,
    tests: "/reorg.",
    only: /sets a confirmed operation back/,
  },
  {
    rule: "A relay operation that can still be mined is not abandoned.",
    of: "readReceiptState",
    bug:
      (original) =>
      async (...given) => {
        const receiptState = await original(...given);
        return receiptState === "waiting" ? "nonce_taken" : receiptState;
      },
    tests: "/abandon.",
    only: /while a reorg has freed the nonce/,
  },
  {
    rule: "A nonce that is free again after its attempt was abandoned is filled with a cancellation.",
    of: "cancel",
    bug: () => async (_context, superseded) => superseded,
    tests: "/abandon.",
    only: /has it filled with a cancellation/,
  },
  {
    rule: "The precondition is asked before every broadcast.",
    of: "requirePrecondition",
    bug: () => async () => {},
    tests: "/precondition.",
    only: /not any more before the broadcast/,
  },
  {
    rule: "A confirmed relay operation that a reorg has removed is found.",
    of: "findReorged",
    bug: () => async () => [],
    tests: "/reorg.",
    only: /recovery repairs a confirmed operation/,
  },
  {
    rule: "A start takes up what an earlier process left.",
    of: "recover",
    bug: () => async () => {},
    tests: "/crash.",
    only: /a crash at after_signed is made good by recovery alone/,
  },
  {
    rule: "Every new head of the chain is followed.",
    of: "follow",
    bug: () => async () => {},
    tests: "/follow.",
    only: /confirmations are counted with each head/,
  },
  {
    rule: "A head that does not follow the last one has replaced blocks.",
    of: "HeadTrail.fork",
    bug: () => async (_node, head) => head.number,
    tests: "/follow.",
    only: /a new head shows that a reorg took/,
  },
  {
    rule: "A confirmed transaction of the relayer is bound to what it must be.",
    of: "relayBound",
    bug: (original) => (intent, services, step) =>
      original(intent, services, { ...step, bind: async () => {} }),
    tests: "/moved-claims.",
    only: /mined behind another claim is refused for good/,
  },
];
