import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { approveCall, payCall, payWithPermitCall } from "../../../protocol/call.ts";
import { permitTypedData, signedPermit, tokenDomain } from "../../../protocol/messages/permit.ts";
import type { WalletName } from "../../../sandbox/chain/genesis/roles.ts";
import { addEvent, type ModelPurchase, move, paidOf, type SentByWallet } from "../model.ts";
import { acceptsPayment, type Reconciled, reconciliationAnswer } from "../rules.ts";
import { accountOf, type Walk } from "../walk.ts";
import { nameOfPurchase } from "./purchases.ts";
import type { ResolvedStep } from "./step.ts";

/** Has a wallet pay a purchase: after an approval, or with a permit. */
async function pay(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const outstanding = purchase.amount - paidOf(purchase);
  const amount = {
    all: outstanding === 0n ? 1n : outstanding,
    part: outstanding < 2n ? 1n : outstanding / 2n,
    over: outstanding + 1n,
  }[step.amount];
  const by = step.mistake === "wallet" ? "stranger" : purchase.buyer;
  const withPermit = step.choice % 3 === 2;
  const payment = withPermit
    ? await payWithPermit(walk, purchase, { by, amount })
    : await payApproved(walk, purchase, { by, amount });
  if (!payment.succeeded) {
    purchase.failedPayment = payment;
    return;
  }
  const { wallet } = walk.model.merchants[purchase.merchant] ?? { wallet: by };
  purchase.payments.push({ hash: payment.hash, amount, reconciled: false });
  move(walk.model, by, wallet, amount);
}

interface Payment {
  by: WalletName;
  amount: bigint;
}

async function payApproved(walk: Walk, purchase: ModelPurchase, { by, amount }: Payment) {
  const { model, sandbox } = walk;
  const { token, registrar } = sandbox.description.contracts;
  await walk.send(by, approveCall(token, registrar, amount), {
    title: `The wallet ${by} allows the registrar contract ${amount}`,
    succeeds: true,
  });
  model.approved[by] = amount;
  const succeeds = acceptsPayment(model, purchase, { by, amount, ahead: 0 });
  const late = model.now + 1 > purchase.payDeadline;
  const sent = await walk.send(by, payCall(registrar, purchase.view.commitment.hash, amount), {
    title: `The wallet ${by} pays ${amount} of ${nameOfPurchase(walk, purchase)}`,
    succeeds,
  });
  if (succeeds) model.approved[by] = 0n;
  return { ...sent, late } satisfies SentByWallet;
}

async function payWithPermit(walk: Walk, purchase: ModelPurchase, { by, amount }: Payment) {
  const { model, sandbox } = walk;
  const { token, registrar } = sandbox.description.contracts;
  const account = accountOf(sandbox, by);
  const owner = account.address;
  const nonce = await sandbox.chain.client.readContract({
    address: token,
    abi: testUsdcAbi,
    functionName: "nonces",
    args: [owner],
  });
  const { chainId } = purchase.view.commitment.typed_data.domain;
  const deadline = BigInt(purchase.payDeadline);
  const message = { owner, spender: registrar, value: amount, nonce, deadline };
  const permit = permitTypedData(tokenDomain(chainId, token), message);
  const signed = signedPermit(deadline, await account.signTypedData(permit));
  const succeeds = acceptsPayment(model, purchase, { by, amount, ahead: 0 });
  const late = model.now + 1 > purchase.payDeadline;
  const { hash } = purchase.view.commitment;
  const sent = await walk.send(by, payWithPermitCall(registrar, hash, amount, signed), {
    title: `The wallet ${by} pays ${amount} of ${nameOfPurchase(walk, purchase)} with a permit`,
    succeeds,
  });
  if (succeeds) model.approved[by] = 0n;
  return { ...sent, late } satisfies SentByWallet;
}

/** Reconciles a purchase: all of its payments, or a named transaction. */
async function reconcile(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { id, payments } = purchase;
  const named = nameTransaction(walk, step, purchase);
  const hash = hashOf(walk, purchase, named);
  const accepted = await walk.write({
    title: `Reconcile ${named.kind === "all" ? "the payments" : `a transaction (${named.kind})`} of ${nameOfPurchase(walk, purchase)}`,
    line: `POST ${walk.program}/purchases/${id}/reconcile`,
    body: hash === null ? {} : { transaction_hashes: [hash] },
    expected: reconciliationAnswer(model, purchase, named),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null) return;
  const about = payments.filter((payment) => hash === null || payment.hash === hash);
  if (about.some(({ reconciled }) => !reconciled)) addEvent(model, "purchase.reconciled", id);
  for (const payment of about) payment.reconciled = true;
}

function nameTransaction({ model }: Walk, step: ResolvedStep, purchase: ModelPurchase): Reconciled {
  const { payments, failedPayment } = purchase;
  const last = payments.at(-1);
  if (step.mistake === "value") {
    const isPaid = model.purchases.some((other) => other !== purchase && other.payments.length > 0);
    if (failedPayment !== null && step.choice % 3 === 0) return { kind: "failed", sent: failedPayment };
    return isPaid && step.choice % 3 !== 1 ? { kind: "foreign" } : { kind: "unknown" };
  }
  return last !== undefined && step.choice % 2 === 1 ? { kind: "payment", hash: last.hash } : { kind: "all" };
}

function hashOf({ model }: Walk, purchase: ModelPurchase, named: Reconciled): string | null {
  switch (named.kind) {
    case "payment":
      return named.hash;
    case "failed":
      return named.sent.hash;
    case "unknown":
      return `0x${"11".repeat(32)}`;
    case "foreign":
      return (
        model.purchases.find((other) => other !== purchase && other.payments.length > 0)?.payments[0]?.hash ??
        null
      );
    default:
      return null;
  }
}

/** The steps about the payments of a purchase. */
export const paymentMoves = { pay, reconcile };
