import type { Bug } from "../bug.ts";

export const idempotency: readonly Bug[] = [
  {
    rule: "A key with another body is refused.",
    of: "claimKey",
    bug: (original) => (operation, request) => original(operation, { ...request, body: null }),
    tests: "/idempotency.",
    only: /is refused with another body/,
  },
  {
    rule: "A key with another path is refused.",
    of: "claimKey",
    bug: (original) => (operation, request) => ({
      ...original(operation, request),
      fingerprint: original(operation, { ...request, path: "" }).fingerprint,
    }),
    tests: "/idempotency.",
    only: /the same body at another path/,
  },
  {
    rule: "A key means nothing in another program.",
    of: "claimKey",
    bug: (original) => (operation, request) => original(operation, { ...request, program: "" }),
    tests: "/idempotency.",
    only: /means nothing in another program/,
  },
  {
    rule: "A key on a wallet route counts for this object only.",
    of: "claimKey",
    bug: (original) => (operation, request) =>
      original({ ...operation, authorization: { kind: "scope" } }, request),
    tests: "/idempotency.",
    only: /on a wallet route counts for this object only/,
  },
  {
    rule: "A key of other lengths, or with a space, is refused.",
    of: "readIdempotencyKey",
    bug:
      () =>
      ([key]) =>
        key,
    tests: "/errors.",
    only: /idempotency_key_invalid/,
  },
  {
    rule: "A key that was used with another request is refused.",
    of: "lookUpKey",
    bug: (original) => async (store, claim) => {
      const found = await store.get("idempotency", claim.key);
      return await original(store, { ...claim, fingerprint: found?.value.fingerprint ?? claim.fingerprint });
    },
    tests: "/idempotency.",
    only: /is refused with another body/,
  },
  {
    rule: "The identical request again has no second effect.",
    of: "lookUpKey",
    bug: () => async (_store, claim) => ({ held: { ...claim, revision: 0, subject: null } }),
    tests: "/idempotency.",
    only: /gets the first answer byte for byte/,
  },
  {
    rule: "A key whose effect may have happened is kept when the service fails.",
    of: "freesKey",
    bug: (original) => (error, held) => !(error.status < 500) || original(error, held),
    tests: "/node-failure.",
  },
  {
    rule: "A key under which an effect is in progress is kept when the effect is refused.",
    of: "freesKey",
    bug: (original) => (error, held) => original(error, { ...held, subject: null }),
    tests: "/deadlines.",
    only: /keeps the key/,
  },
  {
    rule: "A key whose transaction reverted is kept.",
    of: "Problem.afterEffect",
    bug: "(original) => () => this",
    tests: "/deadlines.",
    only: /keeps the key/,
  },
  {
    rule: "The identical request while the first is in progress gets that one's response.",
    of: "repeatAnswer",
    bug: (original) => async (context, next) =>
      await original({ ...context, key: context.key && `${context.key}${Math.random()}` }, next),
    tests: "/idempotency.",
    only: /fifty times at once has one effect/,
  },
  {
    rule: "Of two commits on one revision one succeeds.",
    of: "fits",
    bug: () => () => true,
    tests: "/embedded.",
    only: /of many commits at once on one revision/,
  },
  {
    rule: "A relay operation is the same for every request of its effect.",
    of: "operationId",
    bug: (original) => (epoch, intent) => original(epoch, { ...intent, kind: Math.random() }),
    tests: "/submit.",
    only: /one intent submitted many times/,
  },
  {
    rule: "A request records nothing that it read at a block that has left the chain.",
    of: "RequestHead.settle",
    bug: () => async () => {},
    tests: "/attacks.",
    only: /a reorg during/,
  },
];
