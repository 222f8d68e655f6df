import { concatHex, encodeFunctionData, type Hex, pad, slice, toHex } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { attacksOf, mismatch, refused } from "../attack.ts";
import { parseReconciliation } from "../fixture/fixture-service.ts";

const amount = (25n * usdc).toString();

/** Attacks by the bytes of a call. */
export const calldataAttacks = attacksOf("calldata", [
  {
    name: "a payment with another purchase's id",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.second));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "an approval of an amount other than the submitted one",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const transaction_hash = await fixture.succeed("buyer", fixture.approve(25n * usdc - 1n));
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "an approval of another token",
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
    name: "an approval for a lookalike spender",
    pays: false,
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const lookalike = await fixture.deploy("LookalikeRegistrar");
      const transaction_hash = await fixture.succeed("buyer", fixture.approve(25n * usdc, lookalike));
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "a payment to a lookalike contract with the same selector and log",
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
    name: "a payment with a trailing byte",
    stopped: mismatch("status", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.pay(fixture.purchase);
      const hash = await fixture.send("buyer", { to, data: `${data}00` });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "an approval with a trailing byte, which the token ignores",
    pays: false,
    stopped: mismatch("calldata"),
    async run(fixture) {
      const { to, data } = fixture.approve(25n * usdc);
      const transaction_hash = await fixture.succeed("buyer", { to, data: `${data}00` });
      return await fixture.submitToWallet(fixture.purchase, { action: "approve", transaction_hash, amount });
    },
  },
  {
    name: "dirty high bits of an address",
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
    name: "non-canonical array offsets",
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
    name: "an amount above 2^53 that equals the expected one as a float",
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
    name: "a direct token transfer to the merchant",
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
    name: "a batch that pays one purchase twice: each payment is recorded once",
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
    name: "an activation with a commitment that differs in one bit",
    pays: false,
    stopped: refused(422, "commitment_mismatch"),
    async run(fixture) {
      const { hash } = fixture.draft.commitment;
      const other = hash.slice(0, -1) + (hash.endsWith("0") ? "1" : "0");
      return await fixture.post(`/purchases/${fixture.draft.id}/activate`, { commitment_hash: other });
    },
  },
]);
