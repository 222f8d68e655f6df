import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";

const closed = { code: "closed", message: "The sandbox is closed. Open another one with createSandbox()." };

test("every call after close is refused as closed, even on parts of the sandbox that were read before", async () => {
  const sandbox = await createSandbox();
  const { wallets, chain, clock, client, given, receiver, reviewer, description } = sandbox;
  const { purchase, claim } = await given.purchase({ state: "claimed" });
  const snapshot = await sandbox.snapshot();
  const waiting = expect(receiver.next()).rejects.toMatchObject({ name: "SandboxError", ...closed });
  await sandbox.close();
  await waiting;
  const hash = purchase.commitment.hash;
  const calls: { [call: string]: () => unknown } = {
    given: async () => await given.purchase({ state: "paid" }),
    pay: async () => await wallets.buyer.pay(purchase),
    send: async () => await wallets.buyer.send({ to: wallets.buyer.address, data: "0x" }),
    restore: async () => await snapshot.restore(),
    travel: async () => await clock.travel({ days: 1 }),
    mine: async () => await chain.client.mine({ blocks: 1 }),
    getBlock: async () => await chain.client.getBlock(),
    client: async () => await client.GET("/v1/routing/capabilities"),
    retrying: async () => await client.retrying.GET("/v1/routing/capabilities"),
    decide: async () => await reviewer.decide(purchase, claim, { award: "0" }),
    next: async () => await receiver.next(),
    "sandbox.snapshot": () => sandbox.snapshot(),
    "sandbox.explain": () => sandbox.explain(hash),
    "sandbox.fingerprint": () => sandbox.fingerprint(),
    "sandbox.save": () => sandbox.save("never-written"),
    "sandbox.deliverAll": () => sandbox.deliverAll(),
    "sandbox.client": () => sandbox.client,
    "sandbox.wallets": () => sandbox.wallets,
    "sandbox.given": () => sandbox.given,
    "sandbox.rotateKeys": () => sandbox.rotateKeys("notifications"),
    "sandbox.record": () => sandbox.record("title"),
  };
  for (const [name, call] of Object.entries(calls))
    await expect((async () => await call())(), name).rejects.toMatchObject(closed);
  await expect(wallets.buyer.signPermit(purchase)).rejects.toThrow(closed.message);
  expect(sandbox.description).toBe(description);
  await sandbox.close();
});
