import { approveCall } from "../../../protocol/call.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import type { components } from "../../../sandbox/client/api-client.ts";
import { addEvent, type ModelMerchant } from "../model.ts";
import { acceptsEnrollment, enrollmentAnswer, isSuccess, merchantAnswer } from "../rules.ts";
import { accountOf, type Walk } from "../walk.ts";
import type { ResolvedStep } from "./step.ts";

/** The funding cap of a walk's merchants, in base units: few refunds use it up. */
const fundingCap = 100n * usdc;

/** Creates a merchant for one of two wallets. */
async function createMerchant(
  walk: Walk,
  step: Pick<ResolvedStep, "choice" | "mistake" | "fault">,
): Promise<void> {
  const { model } = walk;
  const wallet = step.choice % 2 === 0 ? "other_merchant" : "merchant";
  const isEnrolled = model.merchants.some((merchant) => merchant.wallet === wallet && merchant.onChain);
  const number = model.merchants.length + 1;
  const accepted = await walk.write({
    title: `Create merchant ${number} for the wallet ${wallet}`,
    line: `POST ${walk.program}/merchants`,
    body: {
      wallet: accountOf(walk.sandbox, wallet).address,
      name: `Shop ${number}`,
      funding_cap: fundingCap.toString(),
    },
    expected: merchantAnswer(isEnrolled),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null) return;
  const view: components["schemas"]["Merchant"] = JSON.parse(accepted.text);
  const { id } = view;
  model.merchants.push({
    id,
    by: walk.id,
    wallet,
    cap: fundingCap,
    collected: 0n,
    status: "pending",
    onChain: false,
    enrollment: null,
    view,
  });
  addEvent(model, "merchant.created", id, { merchant_id: id, funding_cap: fundingCap.toString() });
}

/** Has a wallet send the enrollment of a merchant. */
async function enroll(walk: Walk, step: ResolvedStep, merchant: ModelMerchant): Promise<void> {
  const by = step.mistake === "wallet" ? "stranger" : merchant.wallet;
  const succeeds = acceptsEnrollment(walk.model, merchant, by);
  const sent = await walk.send(by, merchant.view.enrollment.transaction, {
    title: `The wallet ${by} enrolls merchant ${numberOf(walk, merchant)}`,
    succeeds,
  });
  if (merchant.enrollment?.succeeded !== true) merchant.enrollment = sent;
  if (succeeds) merchant.onChain = true;
}

/** Confirms the enrollment of a merchant. */
async function confirmEnrollment(walk: Walk, step: ResolvedStep, merchant: ModelMerchant): Promise<void> {
  const { enrollment, wallet, view, id } = merchant;
  const wrongSigner = step.mistake === "wallet";
  const signer = accountOf(walk.sandbox, wrongSigner ? "stranger" : wallet);
  const signature = await signer.signMessage({ message: view.enrollment.message });
  const expected = enrollmentAnswer(merchant, wrongSigner);
  const accepted = await walk.write({
    title: `Confirm the enrollment of merchant ${numberOf(walk, merchant)}${wrongSigner ? ", signed by the stranger" : ""}`,
    line: `POST ${walk.program}/merchants/${id}/enrollment`,
    body: { signature, ...(enrollment === null ? {} : { transaction_hash: enrollment.hash }) },
    expected,
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null || !isSuccess(expected)) return;
  merchant.status = "enrolled";
  addEvent(walk.model, "merchant.enrolled", id, {
    merchant_id: id,
    transaction_hash: enrollment?.hash ?? "",
  });
}

/** Has the wallet of a merchant allow the funding source its cap, or nothing. */
async function fund(walk: Walk, step: ResolvedStep, merchant: ModelMerchant): Promise<void> {
  const { token, funding_source } = walk.sandbox.description.contracts;
  const { wallet, cap } = merchant;
  const amount = step.choice % 4 === 3 ? 0n : cap;
  await walk.send(wallet, approveCall(token, funding_source, amount), {
    title: `The wallet ${wallet} allows the funding source ${amount}`,
    succeeds: true,
  });
  walk.model.funded[wallet] = amount;
}

/** The number of a merchant in titles. */
function numberOf(walk: Walk, merchant: ModelMerchant): number {
  return walk.model.merchants.indexOf(merchant) + 1;
}

/** The steps about a merchant. */
export const merchantMoves = { enroll, confirmEnrollment, fund };

/** The step that creates a merchant. */
export const merchantCreation = { createMerchant };
