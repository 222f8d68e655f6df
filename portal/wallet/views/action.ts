import { formatAmount } from "../../amounts/format-amount.ts";
import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { type ActionInput, isAmountMissing, writeAmount } from "../action-input.ts";
import { obstacleTo } from "../connection/connection.ts";
import { oneTimeActions } from "../next-action.ts";
import type { ActionState, PageState } from "../page-state.ts";
import {
  type Action,
  type ActionName,
  type Capabilities,
  hasAmount,
  type WalletView,
} from "../wallet-api.ts";
import { actionWords, plainReason } from "./action-words.ts";
import { viewCalldata, viewSignature } from "./bytes.ts";
import { viewActionCall } from "./fields.ts";
import { viewProgress } from "./progress.ts";
import { isEnrolled, viewDate } from "./summary.ts";

/** The actions of a person on the page. */
export interface Deeds {
  connect(walletId: string): void;
  switchChain(): void;
  input(name: Action["name"], input: ActionInput): void;
  /** Does an action as it was typed last or, where nothing was typed, as it is shown. */
  perform(action: Action): void;
  enterHash(name: Action["name"], hash: string): void;
  reload(): Promise<void>;
}

/** Returns whether an action is or was next, or says something. */
export function isConcerned(name: ActionName, state: PageState): boolean {
  const { busy, uncertain, progress } = state.actions[name];
  return state.opened.has(name) || busy || uncertain || progress !== null || lostHash(name, state) !== null;
}

/**
 * Shows an action: what it does, and its button with the signed and sent bytes behind details; or in one line that it is done, or why it is not
 * possible now. All but the next action are folded.
 *
 * @param step - the number among the steps of its wallet.
 */
export function viewAction(offered: Action, state: PageState, deeds: Deeds, step: number | undefined) {
  const { name } = offered;
  const { title, meaning } = actionWords[name];
  const own = state.actions[name];
  const action = own.planned ?? offered;
  const lost = lostHash(name, state);
  const submitted = lost === null ? latestOf(name, state) : undefined;
  const progress = own.progress ?? (lost === null ? null : { at: "unknown", transactionHash: lost });
  const isDone = !action.allowed && (submitted !== undefined || isDoneAlready(name, state));
  const isOpen = action.allowed && isConcerned(name, state);
  return html`<section aria-labelledby=${name} id="action-${name}">
    <details class="action" ?open=${isOpen}>
      <summary>
        <h2 id=${name}>${viewNumber(name, step, isDone)}${title}</h2>
        ${viewBadge(own)} ${action.allowed ? nothing : html`<span class="reason">${whyNot(action, isDone, state)}</span>`}
      </summary>
      <div class="bytes">
        <p class="quiet">${meaning}</p>
        ${action.allowed ? nothing : html`<p class="small quiet">Details: ${action.why_not}</p>`}
        ${viewOffer(action, offered, state, deeds, submitted !== undefined)}
      </div>
    </details>
    <div id="${name}-status" tabindex="-1" aria-live="polite">${
      progress !== null && progress.at !== "accepted"
        ? viewProgress(progress)
        : viewAccepted(name, submitted, state)
    }</div>
    ${own.uncertain ? viewUncertain(name, deeds) : nothing}
  </section>`;
}

function viewNumber(name: ActionName, step: number | undefined, isDone: boolean) {
  if (step === undefined) return nothing;
  if (name === "pay_with_permit") return html`<span class="quiet">or</span> `;
  return html`<span class="step ${isDone ? "done" : ""}">${isDone ? "✓" : step}</span> `;
}

/** The reason why an action is not possible, in a few words. */
function whyNot({ name, why_not }: Action, isDone: boolean, { wallet, capabilities }: PageState): string {
  if (capabilities === null || why_not === null) return "";
  if (isDone) return "Done.";
  const canApprove = wallet?.actions.some((other) => other.name === "approve" && other.allowed);
  if (name === "pay" && canApprove) return "Approve first.";
  return plainReason(why_not, capabilities.contracts.token);
}

/** Returns whether an action is done without this page: the merchant has enrolled, or the payment needs no other approval. */
function isDoneAlready(name: ActionName, { wallet }: PageState): boolean {
  if (wallet === null) return false;
  if (name === "enroll") return isEnrolled(wallet);
  return name === "approve" && wallet.actions.some((other) => other.name === "pay" && other.allowed);
}

/** The last submission of an action. A permit is only half of its action; the payment under it is submitted as one. */
function latestOf(name: ActionName, { wallet }: PageState) {
  if (name === "pay_with_permit") return undefined;
  return wallet?.submissions.findLast(({ action }) => action === name);
}

/** The transaction of the last submission, when the chain no longer knows it. */
function lostHash(name: ActionName, state: PageState): string | null {
  const hash = latestOf(name, state)?.transaction_hash ?? null;
  return hash !== null && state.lost.has(hash) ? hash : null;
}

function viewOffer(action: Action, offered: Action, state: PageState, deeds: Deeds, submitted: boolean) {
  const { name, allowed } = action;
  const own = state.actions[name];
  if (!allowed) return nothing;
  const offer = html`${viewWish(offered, own, state, deeds)} ${viewAllowed(action, own, state, deeds)}`;
  return submitted && oneTimeActions.has(name) && !own.busy
    ? html`<details><summary>Show it, or repeat it</summary><div class="bytes">${offer}</div></details>`
    : offer;
}

function viewBadge({ busy, mistake }: ActionState) {
  if (busy) return html`<span class="badge accent">in progress</span>`;
  return mistake === null ? nothing : html`<span class="badge">not as typed</span>`;
}

/** Says that the service has accepted an action, with its transaction unless it is among the payments at the top. */
function viewAccepted(
  name: ActionName,
  submitted: WalletView["submissions"][number] | undefined,
  { actions, wallet, capabilities }: PageState,
) {
  const { progress } = actions[name];
  if (capabilities === null || (progress === null && submitted === undefined)) return nothing;
  const hash = progress?.at === "accepted" ? progress.transactionHash : (submitted?.transaction_hash ?? null);
  const { amount = null, reason = null, submitted_at } = submitted ?? {};
  const isAtTop =
    wallet?.subject.type === "purchase" && wallet.subject.payment_hashes.some((one) => one === hash);
  return html`<div class="notice good small">
    <p>Accepted by the service${submitted_at === undefined ? nothing : html`, ${viewDate(Date.parse(submitted_at) / 1000)}`}.
      ${amount === null ? nothing : `${formatAmount(amount, capabilities.contracts.token)}${reason === null ? "." : `, “${reason}”`}`}</p>
    ${hash === null || isAtTop ? nothing : html`<p>Transaction <code>${hash}</code></p>`}
  </div>`;
}

/** The amount of an approval, a payment or a claim, and the reason of a claim. */
function viewWish(
  { name, amount }: Action,
  { input, mistake, busy }: ActionState,
  { capabilities }: PageState,
  deeds: Deeds,
) {
  if (!hasAmount(name) || capabilities === null) return nothing;
  const { token } = capabilities.contracts;
  const filledIn = amount === undefined ? "" : writeAmount(amount, token);
  // An action in progress may already have changed the next possible actions.
  const wrong = busy ? null : mistake;
  const inputOf = (event: Event) => (event.target instanceof HTMLInputElement ? event.target.value : "");
  return html`<div class="input">
    <div class="field">
      <label for="${name}-amount">Amount in ${token.symbol}</label>
      <input id="${name}-amount" inputmode="decimal" autocomplete="off" placeholder=${filledIn} .value=${input.amount ?? filledIn}
        ?disabled=${busy} aria-invalid=${wrong === null ? "false" : "true"} aria-describedby="${name}-mistake"
        @input=${(event: Event) => deeds.input(name, { amount: inputOf(event) })}>
    </div>
    ${
      name === "claim"
        ? html`<div class="field">
          <label for="claim-reason">Reason</label>
          <input id="claim-reason" maxlength="2000" autocomplete="off" .value=${input.reason ?? ""} ?disabled=${busy}
            @input=${(event: Event) => deeds.input(name, { reason: inputOf(event) })}>
        </div>`
        : nothing
    }
    <p id="${name}-mistake" class="error" role="alert">${wrong === null ? nothing : plainReason(wrong, token)}</p>
  </div>`;
}

function viewAllowed(action: Action, own: ActionState, state: PageState, deeds: Deeds) {
  const { transaction, name } = action;
  const { capabilities, connection } = state;
  if (capabilities === null || own.mistake !== null) return nothing;
  if (isAmountMissing(own.input)) return html`<p>Enter an amount to see what you sign and send.</p>`;
  if (name === "claim" && !own.input.reason)
    return html`<p>Enter a reason to see what you sign. The reason is part of it.</p>`;
  const { contracts, chain } = capabilities;
  const obstacle = connection === null ? null : obstacleTo(action, connection, chain);
  return html`${
    transaction === undefined
      ? html`<p>Your wallet asks twice: to sign the permit, and to send the payment under it.</p>`
      : nothing
  }
    <div role="status">${
      obstacle === null
        ? nothing
        : html`<div class="notice warn"><p>${obstacle.text}</p>
          ${
            obstacle.remedy === "switch_chain"
              ? html`<p><button type="button" @click=${() => deeds.switchChain()}>Switch the wallet's chain</button></p>`
              : nothing
          }</div>`
    }</div>
    <div class="row">
      <button type="button" class="primary" ?disabled=${own.busy || connection === null || obstacle !== null}
        aria-describedby="${name}-with" @click=${() => deeds.perform(action)}>${labelOf(action, capabilities)}</button>
      <span id="${name}-with" class="small quiet">${
        connection === null ? "Choose your wallet above first." : `with ${connection.wallet.name}`
      }</span>
    </div>
    ${viewDetails(action, contracts)}`;
}

/** The button of an action, with the amount that it approves, pays or claims. */
function labelOf({ name, amount, transaction }: Action, { contracts }: Capabilities): string {
  const button = transaction === undefined ? "Sign and pay" : actionWords[name].button;
  return amount === undefined ? button : `${button} ${formatAmount(amount, contracts.token)}`;
}

/** Shows what is signed and sent, to the byte. */
function viewDetails({ transaction, sign }: Action, contracts: Capabilities["contracts"]) {
  return html`<details>
    <summary>Details: what is ${sign === undefined ? "sent" : "signed and sent"}</summary>
    <div class="bytes">
      ${
        sign === undefined
          ? html`<h3>To send</h3>`
          : html`<h3>First: sign</h3>${viewSignature(sign, contracts)}<h3>Then: send</h3>`
      }
      ${
        transaction === undefined
          ? html`<p>The payment contains the signature of the permit, so its transaction appears here after you have signed.</p>`
          : html`${viewActionCall(transaction, contracts)} ${viewCalldata(transaction)}`
      }
    </div>
  </details>`;
}

/** After a page was closed while the wallet was asked to send. */
function viewUncertain(name: Action["name"], deeds: Deeds) {
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    deeds.enterHash(name, String(new FormData(event.target).get("hash")));
  };
  return html`<div class="notice warn">
    <p>This page was closed while the wallet was asked to send. Look into the wallet: if it did send, enter the transaction's hash here; if not,
      start again.</p>
    <form class="row" @submit=${send}>
      <label for="${name}-hash">Transaction hash</label>
      <input id="${name}-hash" name="hash" required pattern="0x[0-9a-f]{64}" autocomplete="off">
      <button type="submit">Submit this hash</button>
    </form>
  </div>`;
}
