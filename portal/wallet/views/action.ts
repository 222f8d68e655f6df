import { formatAmount } from "../../amounts/format-amount.ts";
import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { type ActionInput, isAmountMissing } from "../action-input.ts";
import { obstacleTo } from "../connection/connection.ts";
import { oneTimeActions } from "../next-action.ts";
import type { ActionState, PageState } from "../page-state.ts";
import { writeAmount } from "../typed-amount.ts";
import { type Action, type Capabilities, hasAmount, type WalletView } from "../wallet-api.ts";
import { actionWords } from "./action-words.ts";
import { viewCalldata, viewSignature } from "./bytes.ts";
import { viewActionCall } from "./fields.ts";
import { viewProgress } from "./progress.ts";

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

/**
 * Shows an action: what it does, and its button with the signed and sent bytes behind details; or why it is not to be done now. All but the
 * next action are folded.
 */
export function viewAction(offered: Action, state: PageState, deeds: Deeds) {
  const { name } = offered;
  const { title, meaning } = actionWords[name];
  const own = state.actions[name];
  const action = own.planned ?? offered;
  // A permit is only half of its action; the payment under it is submitted as one.
  const latest = state.wallet?.submissions.findLast(
    ({ action: done }) => done === name && done !== "pay_with_permit",
  );
  const lost = lostHash(latest, state);
  const submitted = lost === null ? latest : undefined;
  const progress = own.progress ?? (lost === null ? null : { at: "unknown", transactionHash: lost });
  const isOpen = state.opened.has(name) || own.busy || own.uncertain || progress !== null;
  return html`<section class="panel" aria-labelledby=${name} id="action-${name}">
    <details class="action" ?open=${isOpen}>
      <summary>
        <h2 id=${name}>${title}</h2>
        ${viewBadge(action, own, submitted)}
        ${action.allowed ? nothing : html`<span class="reason">${submitted === undefined ? "Not now" : "Not again"}: ${action.why_not ?? "the service does not say why."}</span>`}
      </summary>
      <div class="bytes">
        <p class="quiet">${meaning}</p>
        ${submitted === undefined ? nothing : viewSubmission(submitted, state)}
        ${viewOffer(action, offered, state, deeds, submitted !== undefined)}
      </div>
    </details>
    <div aria-live="polite">${progress === null ? nothing : viewProgress(progress)}</div>
    ${own.uncertain ? viewUncertain(name, deeds) : nothing}
  </section>`;
}

/** The transaction of a submission, when the chain no longer knows it. */
function lostHash(
  submitted: WalletView["submissions"][number] | undefined,
  { lost }: PageState,
): string | null {
  const hash = submitted?.transaction_hash ?? null;
  return hash !== null && lost.has(hash) ? hash : null;
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

function viewBadge({ allowed }: Action, { busy, mistake }: ActionState, submitted: object | undefined) {
  if (busy) return html`<span class="badge accent">in progress</span>`;
  if (submitted !== undefined) return html`<span class="badge good">submitted</span>`;
  if (!allowed) return html`<span class="badge">not now</span>`;
  return mistake === null
    ? html`<span class="badge accent">available now</span>`
    : html`<span class="badge">not as typed</span>`;
}

function viewSubmission(
  { transaction_hash, submitted_at, amount, reason }: WalletView["submissions"][number],
  { capabilities }: PageState,
) {
  return html`<p class="small">
    The service has accepted this at <time>${submitted_at}</time>${
      transaction_hash === null ? nothing : html`: <code>${transaction_hash}</code>`
    }${
      amount === null || capabilities === null
        ? nothing
        : html`, ${formatAmount(amount, capabilities.contracts.token)}`
    }${reason === null ? nothing : html`, “${reason}”`}. The program's own system continues from here.
  </p>`;
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
    <p id="${name}-mistake" class="error" role="alert">${wrong}</p>
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
    ${
      obstacle === null
        ? nothing
        : html`<div class="notice warn"><p>${obstacle.text}</p>
          ${
            obstacle.remedy === "switch_chain"
              ? html`<p><button type="button" @click=${() => deeds.switchChain()}>Switch the wallet's chain</button></p>`
              : nothing
          }</div>`
    }
    <div class="row">
      <button type="button" class="primary" ?disabled=${own.busy || connection === null || obstacle !== null}
        aria-describedby="${name}-with" @click=${() => deeds.perform(action)}>${labelOf(action, capabilities)}</button>
      <span id="${name}-with" class="small quiet">${
        connection === null ? "Choose a wallet above first." : `with ${connection.wallet.name}`
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
