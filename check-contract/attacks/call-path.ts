import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { usdc } from "../../protocol/amount.ts";
import { faucetCall } from "../../protocol/call.ts";
import { contractWalletAbi } from "../adversary-abi.ts";
import { type Attack, harmless, mismatch } from "../attack.ts";
import type { Stage } from "../stage/stage.ts";
import type { StagedPurchase } from "../stage/staged-service.ts";

/** A call that a contract wallet passes on. */
function passOn(wallet: Address, how: "forward" | "attempt" | "delegate", call: { to: Address; data: Hex }) {
  const data = encodeFunctionData({ abi: contractWalletAbi, functionName: how, args: [call.to, call.data] });
  return { to: wallet, data };
}

/** A purchase whose buyer is a contract wallet, with money and allowance. */
async function contractBuyer(stage: Stage): Promise<{ wallet: Address; purchase: StagedPurchase }> {
  const wallet = await stage.deploy("ContractWallet");
  const purchase = await stage.createPurchase({ buyer: wallet.toLowerCase() });
  await stage.activate(purchase);
  await stage.succeed("stranger", faucetCall(stage.contracts.token, wallet, 100n * usdc));
  await stage.succeed("stranger", passOn(wallet, "forward", stage.approve(100n * usdc)));
  return { wallet, purchase };
}

/** Has an account run a contract's code from now on, none for the zero address, by a transaction of a stranger (EIP-7702). */
async function delegate(stage: Stage, name: "buyer" | "stranger", code: Address): Promise<void> {
  const authorization = await delegateTo(stage, name, code);
  await stage.succeed("stranger", { to: stage.address("stranger"), data: "0x", delegate: [authorization] });
}

/** Signs that an account's address shall run a contract's code (EIP-7702). */
async function delegateTo(stage: Stage, name: "buyer" | "stranger", code: Address) {
  const account = stage.account(name);
  if (account.signAuthorization === undefined) throw new Error("A local account signs authorizations.");
  const nonce = await stage.client.getTransactionCount({ address: account.address });
  const { chain_id: chainId } = stage.sandbox.description.chain;
  return await account.signAuthorization({ address: code, chainId, nonce });
}

/** Attacks by the way that a call takes to the contract. */
export const callPathAttacks: readonly Attack[] = [
  {
    family: "call path",
    name: "a forwarder that the buyer calls",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(stage) {
      const wallet = await stage.deploy("ContractWallet");
      const hash = await stage.send("buyer", passOn(wallet, "forward", stage.pay(stage.purchase)));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a multicall that the buyer sends",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(stage) {
      const wallet = await stage.deploy("ContractWallet");
      const { to: target, data } = stage.pay(stage.purchase);
      const multicall = encodeFunctionData({
        abi: contractWalletAbi,
        functionName: "multicall",
        args: [[{ target, data }]],
      });
      const hash = await stage.send("buyer", { to: wallet, data: multicall });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a proxy that runs the registrar's code in its own storage",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(stage) {
      const wallet = await stage.deploy("ContractWallet");
      const hash = await stage.send("buyer", passOn(wallet, "delegate", stage.pay(stage.purchase)));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a Safe-like contract wallet as the buyer, which pays on chain",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(stage) {
      const { wallet, purchase } = await contractBuyer(stage);
      const hash = await stage.succeed("buyer", passOn(wallet, "forward", stage.pay(purchase, 25n * usdc)));
      return await stage.reconcile(purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a bundler's transaction through which a contract wallet pays (ERC-4337)",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(stage) {
      const { wallet, purchase } = await contractBuyer(stage);
      const entryPoint = await stage.deploy("ContractWallet");
      const inner = passOn(wallet, "forward", stage.pay(purchase, 25n * usdc));
      const hash = await stage.succeed("stranger", passOn(entryPoint, "forward", inner));
      return await stage.reconcile(purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a stranger acts as the buyer through an EIP-7702 delegation",
    stopped: mismatch("wallet", "contract", "calldata"),
    async run(stage) {
      const code = await stage.deploy("ContractWallet");
      const authorization = await delegateTo(stage, "buyer", code);
      const { to, data } = passOn(stage.address("buyer"), "forward", stage.pay(stage.purchase, 25n * usdc));
      const hash = await stage.succeed("stranger", { to, data, delegate: [authorization] });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a buyer that runs delegated code sends the payment itself",
    stopped: mismatch("wallet"),
    async run(stage) {
      await delegate(stage, "buyer", await stage.deploy("ContractWallet"));
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a buyer that runs delegated code pays, and ends the delegation before the payment is confirmed",
    stopped: mismatch("wallet"),
    async run(stage) {
      await delegate(stage, "buyer", await stage.deploy("ContractWallet"));
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await delegate(stage, "buyer", zeroAddress);
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a buyer that runs delegated code only after its payment was mined",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await delegate(stage, "buyer", await stage.deploy("ContractWallet"));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a payment in a transaction that also delegates an account",
    stopped: mismatch("wallet"),
    async run(stage) {
      const code = await stage.deploy("ContractWallet");
      const authorization = await delegateTo(stage, "stranger", code);
      const hash = await stage.succeed("buyer", { ...stage.pay(stage.purchase), delegate: [authorization] });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a call from a constructor",
    stopped: mismatch("status", "contract", "calldata", "log"),
    async run(stage) {
      const { to, data } = stage.pay(stage.purchase);
      const creation = await stage.creation("ContractWallet", "ConstructorCaller", to, data);
      const hash = await stage.send("buyer", { to: null, data: creation });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "an inner call that reverted in a try/catch while the transaction succeeded",
    stopped: mismatch("contract", "calldata", "log"),
    async run(stage) {
      const wallet = await stage.deploy("ContractWallet");
      const hash = await stage.succeed("buyer", passOn(wallet, "attempt", stage.pay(stage.purchase)));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "a call to an address without code",
    stopped: mismatch("contract", "log"),
    async run(stage) {
      const { data } = stage.pay(stage.purchase);
      const hash = await stage.succeed("buyer", { to: stage.address("stranger"), data });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "an implementation that was exchanged",
    stopped: mismatch("contract"),
    async run(stage) {
      await exchangeRegistrar(stage);
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "an implementation that was exchanged for a payment, and put back before it is confirmed",
    stopped: mismatch("contract"),
    async run(stage) {
      const putBack = await exchangeRegistrar(stage);
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await stage.client.mine({ blocks: 1 });
      await putBack();
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "call path",
    name: "an implementation that was exchanged only after the payment was mined",
    stopped: harmless,
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      await stage.client.mine({ blocks: 1 });
      await exchangeRegistrar(stage);
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
];

/** Puts other code at the registrar's address; what is returned puts the first one back. */
async function exchangeRegistrar(stage: Stage): Promise<() => Promise<void>> {
  const { registrar: address } = stage.contracts;
  const code = (await stage.client.getCode({ address })) ?? "0x";
  // One byte more that is never run: it acts the same and is not the same.
  await stage.client.setCode({ address, bytecode: `${code}00` });
  return async () => await stage.client.setCode({ address, bytecode: code });
}
