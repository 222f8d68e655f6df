import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import type { PageState } from "../page-state.ts";
import type { Action } from "../wallet-api.ts";
import { type Deeds, viewAction } from "./action.ts";
import { words } from "./words.ts";

/** Shows the whole page. */
export function viewPage(state: PageState, deeds: Deeds) {
  const { wallet, failure } = state;
  if (failure !== null)
    return html`<h1>Nothing to show</h1>
      <div class="notice bad" role="alert"><p>${failure}</p></div>
      <p><button type="button" @click=${() => deeds.reload()}>Try again</button></p>`;
  if (wallet === null) return html`<p role="status">Reading the actions …</p>`;
  const { type, id } = wallet.subject;
  return html`<div>
      <h1>${type === "merchant" ? "A merchant's wallet" : "Wallets of a purchase"}</h1>
      <p class="quiet"><code>${id}</code></p>
    </div>
    ${viewWallets(state, deeds)}
    ${inOrder(wallet.actions).map((action) => viewAction(action, state, deeds))}`;
}

const order = Object.keys(words);

/** The actions as a wallet takes them one after the other; the service lists newer ones last. */
function inOrder(actions: readonly Action[]): Action[] {
  return actions.toSorted((left, right) => order.indexOf(left.name) - order.indexOf(right.name));
}

function viewWallets({ offered, connection, connectionFailure }: PageState, deeds: Deeds) {
  return html`<section class="panel" aria-labelledby="wallets">
    <h2 id="wallets">Your wallet</h2>
    <div class="row">
      ${offered.map(
        (
          wallet,
        ) => html`<button type="button" aria-pressed=${connection?.wallet.id === wallet.id ? "true" : "false"}
          @click=${() => deeds.connect(wallet.id)}>
          ${wallet.icon === null ? nothing : html`<img src=${wallet.icon} alt="" width="20" height="20">`}
          ${wallet.name}
        </button>`,
      )}
    </div>
    ${
      offered.some(({ test }) => !test)
        ? nothing
        : html`<p class="small quiet">This browser has no wallet that supports EIP-6963.</p>`
    }
    ${
      connection?.wallet.test
        ? html`<div class="notice warn">
          <p><strong>Test keys.</strong> The sandbox signs for whichever account a step belongs to, with keys that are public. Use them
            to try things; never send real funds to these addresses.</p>
        </div>`
        : nothing
    }
    <div aria-live="polite">
      ${
        connection === null || connection.wallet.test
          ? nothing
          : html`<dl class="facts">
            <dt>Account</dt><dd><code>${connection.accounts[0] ?? "none shown to this page"}</code></dd>
            <dt>Chain</dt><dd class="number">${connection.chainId}</dd>
          </dl>`
      }
      ${connectionFailure === null ? nothing : html`<p class="error" role="alert">${connectionFailure}</p>`}
    </div>
  </section>`;
}
