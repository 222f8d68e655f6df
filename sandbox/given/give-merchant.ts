import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { hashId } from "../../protocol/values/id.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import { initialBalances } from "../chain/genesis/roles.ts";
import type { components } from "../client/api-client.ts";
import { definedOnly } from "../lib/defined-only.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { TestWallets } from "../wallets/open-wallets.ts";
import type { SentCall, TestWallet } from "../wallets/test-wallet.ts";
import type { GivenActors } from "./actors/actors.ts";
import { invalidOption, type MerchantPlan, type PurchasePlan } from "./options.ts";

type Merchant = components["schemas"]["Merchant"];

const defaultName = "Corner Books";
/** The default cap: the initial balance of every wallet, so that the cap is not a further bound. */
export const defaultCap = initialBalances.walletUsdc.toString();

/** Gives a merchant: the one that the wallet is enrolled as, or a new one. */
export async function giveMerchant(plan: MerchantPlan, actors: GivenActors): Promise<Merchant> {
  const program = plan.program ?? actors.firstProgram;
  const wallet = actors.wallets[plan.wallet];
  const api = actors.api(program);
  const enrolled = await actors.merchants.enrolledBy(program, wallet.address);
  if (enrolled !== null) return await reuse(enrolled, plan, actors);
  const merchant = await api.retrying.createMerchant(program, {
    wallet: wallet.address,
    name: plan.name ?? defaultName,
    funding_cap: plan.cap ?? defaultCap,
    ...definedOnly({ reference: plan.reference }),
  });
  if (plan.state === "pending") return merchant;
  const { body } = succeed(await wallet.enroll(merchant));
  // Before the confirmation, so that its answer has the allowance.
  if (plan.state === "funded") succeed(await wallet.fund(merchant));
  return await api.retrying.enroll(merchant, body);
}

async function reuse(merchant: Merchant, plan: MerchantPlan, actors: GivenActors): Promise<Merchant> {
  const { id, program, name, reference, funding } = merchant;
  if (plan.state === "pending")
    throw invalidOption(
      "wallet",
      plan.wallet,
      `is enrolled as ${id} in ${program}, so it has no pending merchant`,
      "Pass another wallet, or revoke its funding authorization first.",
    );
  for (const [option, value] of Object.entries({ name, cap: funding.cap, reference })) {
    const wanted = { name: plan.name, cap: plan.cap, reference: plan.reference }[option];
    if (wanted !== undefined && wanted !== value)
      throw invalidOption(
        option,
        wanted,
        `is not that of ${id}, which the wallet is enrolled as`,
        `Leave out ${option}, or pass another wallet.`,
      );
  }
  const wallet = actors.wallets[plan.wallet];
  // A call that ended early has left it to be confirmed.
  const confirmed =
    merchant.status === "pending" ? await confirmEnrollment(merchant, wallet, actors) : merchant;
  if (plan.state !== "funded" || BigInt(funding.allowance) >= BigInt(funding.remaining)) return confirmed;
  succeed(await wallet.fund(merchant));
  return (await actors.merchants.byId(id)) ?? confirmed;
}

/** Confirms the enrollment of a merchant whose wallet has enrolled. */
async function confirmEnrollment(
  merchant: Merchant,
  wallet: TestWallet,
  { api, chain }: GivenActors,
): Promise<Merchant> {
  const { program, id, enrollment } = merchant;
  const [enrolled] = await chain.client.getContractEvents({
    abi: purchaseRegistrarAbi,
    address: enrollment.transaction.to,
    eventName: "FundingEnrolled",
    args: { program: hashId(program), merchantRef: hashId(id) },
    fromBlock: 0n,
    strict: true,
  });
  if (enrolled === undefined) return merchant;
  const signature = await wallet.signMessage(enrollment.message);
  return await api(program).retrying.enroll(merchant, {
    transaction_hash: enrolled.transactionHash,
    signature,
  });
}

/** Finds the merchant of a given purchase: the one that it names, or a funded one. */
export async function merchantOf(plan: PurchasePlan, actors: GivenActors): Promise<Merchant> {
  if (plan.merchant === undefined)
    return await giveMerchant({ state: "funded", wallet: "merchant", program: plan.program }, actors);
  const merchant = await actors.merchants.byId(plan.merchant);
  if (merchant === null)
    throw invalidOption("merchant", plan.merchant, "does not exist", "Pass a merchant of this sandbox.");
  if (plan.program !== undefined && plan.program !== merchant.program)
    throw invalidOption(
      "merchant",
      merchant.id,
      `is of the program ${merchant.program}, not ${plan.program}`,
      "Pass a merchant of that program, or leave out program.",
    );
  if (merchant.status === "pending")
    throw invalidOption("merchant", merchant.id, "is pending", "Pass one that is enrolled.");
  // Before anything is made.
  if (plan.route === "merchant_direct" || lacksFunding(merchant, plan)) walletOf(merchant, actors.wallets);
  return merchant;
}

/** Refuses an award above what is left of the merchant's cap: the API refuses it only after the payment. @throws GivenInvalidError */
export function requireRemaining({ id, funding }: Merchant, { state, award }: PurchasePlan): void {
  if (!hasRefund(state) || BigInt(funding.remaining) >= BigInt(award)) return;
  throw invalidOption(
    "award",
    award,
    `is above what is left of the funding cap of ${id}, ${funding.remaining}`,
    "Pass less, or another merchant.",
  );
}

/** Has a merchant's wallet fund the award, where the state needs that and it does not do so yet. */
export async function fundAward(
  merchant: Merchant,
  plan: PurchasePlan,
  { wallets }: GivenActors,
): Promise<void> {
  if (lacksFunding(merchant, plan)) succeed(await walletOf(merchant, wallets).fund(merchant));
}

/** Returns whether a merchant's wallet has to approve the award of a given purchase. */
export function lacksFunding({ funding }: Merchant, { state, award }: PurchasePlan): boolean {
  return hasRefund(state) && BigInt(funding.allowance) < BigInt(award);
}

function hasRefund(state: PurchasePlan["state"]): boolean {
  return state === "refund_due" || state === "refunded";
}

/** Finds the wallet of a merchant. */
export function walletOf({ id, wallet }: Merchant, wallets: TestWallets): TestWallet {
  const found = Object.values<TestWallet>(wallets).find(({ address }) => sameAddress(address, wallet));
  if (found !== undefined) return found;
  throw invalidOption(
    "merchant",
    id,
    `has the wallet ${wallet}, whose key the sandbox does not have`,
    "Pass a merchant of one of its wallets.",
  );
}

/**
 * Returns what a wallet sent, when it took effect.
 *
 * @throws SandboxError given_refused when it reverted.
 */
export function succeed<T extends SentCall>(sent: T): T {
  if (sent.receipt.status === "success") return sent;
  throw new SandboxError(
    "given_refused",
    `The transaction ${sent.transaction_hash} of ${sent.receipt.from}, ${sent.call.function}, reverted${sent.revert === null ? "" : ` with ${sent.revert}`}. See routing-sandbox explain ${sent.transaction_hash}.`,
  );
}
