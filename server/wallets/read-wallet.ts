import { type Json, toJson } from "../../protocol/values/json.ts";
import { readFunding } from "../binding/read-funding.ts";
import { defineOperation, type OperationContext } from "../http/operation.ts";
import { readFundingNeed } from "../merchants/funding.ts";
import { findPurchaseNow } from "../purchases/read-at-one-block.ts";
import { readMerchantWalletQuery, readPurchaseWalletQuery, walletSchema } from "../schemas/wallets.ts";
import { findMerchant } from "../store/records/find.ts";
import { viewMerchantSubject, viewPurchaseSubject, viewSubmission } from "./views.ts";
import { merchantWalletActions, type OfferedAction, purchaseWalletActions } from "./wallet-actions.ts";

type Query = { amount?: string | undefined; reason?: string | undefined };

/** The subject of a wallet route, and the actions of its wallets. */
interface WalletNow {
  subject: Json;
  actions: OfferedAction[];
}

async function merchantNow({ services, program, id }: OperationContext<unknown, Query>): Promise<WalletNow> {
  const merchant = (await findMerchant(services.store, program.id, id)).value;
  const funding = await readFunding(merchant, services);
  const [actions, need] = await Promise.all([
    merchantWalletActions(merchant, funding, services),
    readFundingNeed(merchant, funding, services),
  ]);
  return { subject: viewMerchantSubject(merchant, { ...need, allowance: funding.allowance }), actions };
}

async function purchaseNow({
  services,
  program,
  id,
  query,
}: OperationContext<unknown, Query>): Promise<WalletNow> {
  const { purchase, parts, onChain } = await findPurchaseNow(services, program.id, id);
  const wish = {
    amount: query.amount === undefined ? null : BigInt(query.amount),
    reason: query.reason ?? null,
  };
  const merchant = (await findMerchant(services.store, program.id, purchase.merchant_id)).value;
  const actions = await purchaseWalletActions(purchase, onChain, wish, services);
  return { subject: viewPurchaseSubject(purchase, merchant, parts, onChain), actions };
}

function readWallet(type: "merchant" | "purchase") {
  const readNow = type === "merchant" ? merchantNow : purchaseNow;
  return defineOperation({
    number: null,
    id: type === "merchant" ? "readMerchantWallet" : "readPurchaseWallet",
    method: "get",
    path: `/wallet/{program}/${type}/{id}`,
    summary: `Read the wallet actions of a ${type}`,
    description:
      "Lists every action of the bound wallets: the bytes to sign or send, or why it is not possible now. " +
      "A client that prefers text/html gets the wallet page.",
    authorization: { kind: "wallet" },
    idempotent: false,
    effect: false,
    query: type === "merchant" ? readMerchantWalletQuery : readPurchaseWalletQuery,
    page: true,
    responses: { 200: { description: "The actions and what was submitted.", schema: walletSchema } },
    errors: [],
    events: [],
    async handle(context) {
      const { services, program, id } = context;
      const { subject, actions } = await readNow(context);
      const submissions = await services.store.list("submissions", { subject: id });
      return {
        kind: "read",
        status: 200,
        body: {
          subject,
          actions: toJson(actions),
          submissions: submissions
            .filter(({ value }) => value.program === program.id)
            .map(({ value }) => viewSubmission(value)),
        },
      };
    },
  });
}

/** The wallet route of a merchant. */
export const readMerchantWallet = readWallet("merchant");

/** The wallet route of a purchase. */
export const readPurchaseWallet = readWallet("purchase");
