import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { faucetCall } from "../../protocol/call.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { contractWalletAbi } from "../adversary-abi.ts";
import { attacksOf, harmless, mismatch } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import type { FixturePurchase } from "../fixture/fixture-service.ts";

/** A call that a contract wallet passes on. */
function passOn(wallet: Address, how: "forward" | "attempt" | "delegate", call: { to: Address; data: Hex }) {
  const data = encodeFunctionData({ abi: contractWalletAbi, functionName: how, args: [call.to, call.data] });
  return { to: wallet, data };
}

/** A purchase whose buyer is a contract wallet, with money and allowance. */
async function contractBuyer(
  fixture: ContractFixture,
): Promise<{ wallet: Address; purchase: FixturePurchase }> {
  const wallet = await fixture.deploy("ContractWallet");
  const purchase = await fixture.createPurchase({ buyer: wallet.toLowerCase() });
  await fixture.activate(purchase);
  await fixture.succeed("stranger", faucetCall(fixture.contracts.token, wallet, 100n * usdc));
  await fixture.succeed("stranger", passOn(wallet, "forward", fixture.approve(100n * usdc)));
  return { wallet, purchase };
}

/** Has an account run a contract's code from now on, none for the zero address, by a transaction of a stranger (EIP-7702). */
async function delegate(
  fixture: ContractFixture,
  name: "buyer" | "beneficiary",
  code: Address,
): Promise<void> {
  const authorization = await delegateTo(fixture, name, code);
  await fixture.succeed("stranger", {
    to: fixture.address("stranger"),
    data: "0x",
    delegate: [authorization],
  });
}

/** Signs that an account's address shall run a contract's code (EIP-7702). */
async function delegateTo(
  fixture: ContractFixture,
  name: "buyer" | "beneficiary" | "stranger",
  code: Address,
) {
  const account = fixture.account(name);
  if (account.signAuthorization === undefined) throw new Error("A local account signs authorizations.");
  const nonce = await fixture.client.getTransactionCount({ address: account.address });
  const { chain_id: chainId } = fixture.sandbox.description.chain;
  return await account.signAuthorization({ address: code, chainId, nonce });
}

/** Attacks by the way that a call takes to the contract. */
export const callPathAttacks = attacksOf("call path", [
  {
    name: "a payment through a forwarder that the buyer calls",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(fixture) {
      const wallet = await fixture.deploy("ContractWallet");
      const hash = await fixture.send("buyer", passOn(wallet, "forward", fixture.pay(fixture.purchase)));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment in a multicall that the buyer sends",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(fixture) {
      const wallet = await fixture.deploy("ContractWallet");
      const { to: target, data } = fixture.pay(fixture.purchase);
      const multicall = encodeFunctionData({
        abi: contractWalletAbi,
        functionName: "multicall",
        args: [[{ target, data }]],
      });
      const hash = await fixture.send("buyer", { to: wallet, data: multicall });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a proxy that delegatecalls the registrar contract",
    optional: "status",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(fixture) {
      const wallet = await fixture.deploy("ContractWallet");
      const hash = await fixture.send("buyer", passOn(wallet, "delegate", fixture.pay(fixture.purchase)));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a Safe-like contract wallet as the buyer",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(fixture) {
      const { wallet, purchase } = await contractBuyer(fixture);
      const hash = await fixture.succeed(
        "buyer",
        passOn(wallet, "forward", fixture.pay(purchase, 25n * usdc)),
      );
      return await fixture.reconcile(purchase, [hash]);
    },
  },
  {
    name: "a contract wallet that pays through an ERC-4337 bundler",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(fixture) {
      const { wallet, purchase } = await contractBuyer(fixture);
      const entryPoint = await fixture.deploy("ContractWallet");
      const inner = passOn(wallet, "forward", fixture.pay(purchase, 25n * usdc));
      const hash = await fixture.succeed("stranger", passOn(entryPoint, "forward", inner));
      return await fixture.reconcile(purchase, [hash]);
    },
  },
  {
    name: "a stranger that pays through the buyer's EIP-7702 delegation",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(fixture) {
      const code = await fixture.deploy("ContractWallet");
      const authorization = await delegateTo(fixture, "buyer", code);
      const { to, data } = passOn(
        fixture.address("buyer"),
        "forward",
        fixture.pay(fixture.purchase, 25n * usdc),
      );
      const hash = await fixture.succeed("stranger", { to, data, delegate: [authorization] });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment that the buyer makes through its own EIP-7702 delegation",
    stopped: mismatch("contract", "calldata"),
    async run(fixture) {
      await delegate(fixture, "buyer", await fixture.deploy("ContractWallet"));
      const payment = passOn(fixture.address("buyer"), "forward", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", payment)]);
    },
  },
  {
    name: "a payment to an account that delegates to the registrar contract (EIP-7702)",
    optional: "status",
    stopped: mismatch("status", "contract", "log"),
    async run(fixture) {
      await delegate(fixture, "beneficiary", fixture.contracts.registrar);
      const { data } = fixture.pay(fixture.purchase);
      const hash = await fixture.send("buyer", { to: fixture.address("beneficiary"), data });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment by a buyer with an EIP-7702 delegation, whose code does not run",
    stopped: harmless,
    async run(fixture) {
      await delegate(fixture, "buyer", await fixture.deploy("ContractWallet"));
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment by a buyer with an EIP-7702 delegation that ends before the payment is confirmed",
    stopped: harmless,
    async run(fixture) {
      await delegate(fixture, "buyer", await fixture.deploy("ContractWallet"));
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await delegate(fixture, "buyer", zeroAddress);
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment by a buyer that delegates only after the payment (EIP-7702)",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await delegate(fixture, "buyer", await fixture.deploy("ContractWallet"));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment in a transaction that delegates another account (EIP-7702)",
    stopped: harmless,
    async run(fixture) {
      const code = await fixture.deploy("ContractWallet");
      const authorization = await delegateTo(fixture, "stranger", code);
      const hash = await fixture.succeed("buyer", {
        ...fixture.pay(fixture.purchase),
        delegate: [authorization],
      });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment from a constructor",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(fixture) {
      const { to, data } = fixture.pay(fixture.purchase);
      const creation = await fixture.creation("ContractWallet", "ConstructorCaller", to, data);
      const hash = await fixture.send("buyer", { to: null, data: creation });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a payment that reverts inside a try/catch while the transaction succeeds",
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const wallet = await fixture.deploy("ContractWallet");
      const hash = await fixture.succeed("buyer", passOn(wallet, "attempt", fixture.pay(fixture.purchase)));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a call to an address without code",
    stopped: mismatch("contract", "log"),
    async run(fixture) {
      const { data } = fixture.pay(fixture.purchase);
      const hash = await fixture.succeed("buyer", { to: fixture.address("stranger"), data });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a registrar contract whose code was replaced",
    stopped: mismatch("contract"),
    async run(fixture) {
      await replaceRegistrarCode(fixture);
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a registrar contract whose code was replaced during the payment and restored before it is confirmed",
    stopped: mismatch("contract"),
    async run(fixture) {
      const putBack = await replaceRegistrarCode(fixture);
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await fixture.client.mine({ blocks: 1 });
      await putBack();
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a registrar contract whose code was replaced only after the payment",
    stopped: harmless,
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await fixture.client.mine({ blocks: 1 });
      await replaceRegistrarCode(fixture);
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
]);

/** Replaces the code at the registrar contract's address, and returns a function that restores it. */
async function replaceRegistrarCode(fixture: ContractFixture): Promise<() => Promise<void>> {
  const { registrar: address } = fixture.contracts;
  const code = (await fixture.client.getCode({ address })) ?? "0x";
  // An extra byte that never runs: the contract behaves the same, but its code hash differs.
  await fixture.client.setCode({ address, bytecode: `${code}00` });
  return async () => await fixture.client.setCode({ address, bytecode: code });
}
