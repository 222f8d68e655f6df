import { concatHex, encodeFunctionData, type Hex, pad, slice, toHex } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { attacksOf, mismatch, refused } from "../attack.ts";
import { parseReconciliation } from "../fixture/fixture-service.ts";

const amount = (25n * usdc).toString();

/** Attacks by the bytes of a call. */
export const calldataAttacks = attacksOf("calldata", [
  {
    name: "the right selector with another purchase's id",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.second));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "another amount than the one that was approved",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const transaction_hash = await fixture.succeed("buyer", fixture.approve(25n * usdc - 1n));
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "another token",
    pays: false,
    stopped: mismatch("contract", "log"),
    async run(fixture) {
      const token = await fixture.deploy("HostileToken");
      const { data } = fixture.approve(25n * usdc);
      const transaction_hash = await fixture.succeed("buyer", { to: token, data });
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "an approval to a lookalike of the spender",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const lookalike = await fixture.deploy("LookalikeRegistrar");
      const transaction_hash = await fixture.succeed("buyer", fixture.approve(25n * usdc, lookalike));
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "the same selector on another contract, which emits the same log",
    stopped: mismatch("contract", "log"),
    async run(fixture) {
      const lookalike = await fixture.deploy("LookalikeRegistrar");
      const { data } = fixture.pay(fixture.purchase);
      return await fixture.reconcile(fixture.purchase, [
        await fixture.succeed("buyer", { to: lookalike, data }),
      ]);
    },
  },
  {
    name: "truncated calldata",
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.pay(fixture.purchase);
      const hash = await fixture.send("buyer", { to, data: slice(data, 0, 67) });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a trailing byte that the registrar would have to ignore",
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.pay(fixture.purchase);
      const hash = await fixture.send("buyer", { to, data: `${data}00` });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a trailing byte that the token does ignore",
    pays: false,
    stopped: mismatch("calldata"),
    async run(fixture) {
      const { to, data } = fixture.approve(25n * usdc);
      const transaction_hash = await fixture.succeed("buyer", { to, data: `${data}00` });
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "dirty padding before an address",
    pays: false,
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.approve(25n * usdc);
      const dirty = concatHex([slice(data, 0, 4), "0xff", slice(data, 5)]);
      const transaction_hash = await fixture.send("buyer", { to, data: dirty });
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "array offsets that are not the canonical ones",
    pays: false,
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.payBatch([[fixture.purchase, 10n * usdc]]);
      const gap: Hex = concatHex([
        slice(data, 0, 36),
        pad(toHex(0xa0)),
        slice(data, 68, 132),
        pad("0x"),
        slice(data, 132),
      ]);
      return await fixture.reconcile(fixture.purchase, [await fixture.send("buyer", { to, data: gap })]);
    },
  },
  {
    name: "a value beyond 2^53 that a float would call equal",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const transaction_hash = await fixture.succeed("buyer", fixture.approve(2n ** 53n + 1n));
      return await fixture.submitToWallet(fixture.purchase, {
        action: "approve",
        transaction_hash,
        amount: (2n ** 53n).toString(),
      });
    },
  },
  {
    name: "a direct transfer to the merchant, which bypasses the purchase",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "transfer",
        args: [fixture.address("merchant"), 25n * usdc],
      });
      const hash = await fixture.succeed("buyer", { to: fixture.contracts.token, data });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a batch that also pays a purchase of another program",
    pays: false,
    stopped: mismatch("purchase", "log"),
    async run(fixture) {
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.foreign, 5n * usdc],
      ]);
      return await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", batch)]);
    },
  },
  {
    name: "a batch that pays one purchase twice: both payments are recorded, each once",
    pays: false,
    stopped: { status: 200, code: null, failed: [] },
    async run(fixture) {
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.second, 7n * usdc],
        [fixture.purchase, 5n * usdc],
      ]);
      const answer = await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", batch)]);
      const { applied, affected_purchases } = parseReconciliation(answer);
      const amounts = applied
        .map((receipt) => Number(BigInt(receipt.amount) / usdc))
        .toSorted((a, b) => a - b);
      if (JSON.stringify([amounts, affected_purchases.length]) !== "[[5,7,10],2]")
        throw new Error(`Recorded ${amounts.join(", ")} on ${affected_purchases.length} purchases.`);
      return answer;
    },
  },
  {
    name: "a commitment that differs in one bit when the purchase is activated",
    pays: false,
    stopped: refused(422, "commitment_mismatch"),
    async run(fixture) {
      const { hash } = fixture.draft.commitment;
      const other = hash.slice(0, -1) + (hash.endsWith("0") ? "1" : "0");
      return await fixture.post(`/purchases/${fixture.draft.id}/activate`, { commitment_hash: other });
    },
  },
]);
