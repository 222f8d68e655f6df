import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import type { PageState } from "../page-state.ts";
import type { Action } from "../wallet-api.ts";
import { type Deeds, viewAction } from "./action.ts";
import { titleOf, viewSummary } from "./summary.ts";

/** Shows the whole page. */
export function viewPage(state: PageState, deeds: Deeds) {
  const { wallet, capabilities, failure } = state;
  if (failure !== null)
    return html`<h1>Nothing to show</h1>
      <div class="notice bad" role="alert"><p>${failure}</p></div>
      <p><button type="button" @click=${() => deeds.reload()}>Try again</button></p>`;
  if (wallet === null || capabilities === null) return html`<p role="status">Reading the actions …</p>`;
  const { subject } = wallet;
  document.title = `${titleOf(subject)} · Routing sandbox`;
  return html`<div>
      <h1>${titleOf(subject)}</h1>
      <p class="quiet"><code>${subject.id}</code></p>
    </div>
    ${viewSummary(subject, capabilities)} ${viewWallets(state, deeds)}
    ${
      wallet.actions.some(({ allowed }) => allowed)
        ? nothing
        : html`<p class="notice">No action is possible now. Each one below says why.</p>`
    }
    ${inOrder(wallet.actions, state).map((action) => viewAction(action, state, deeds))}`;
}

function inOrder(actions: readonly Action[], { order }: PageState): Action[] {
  const rank = ({ name }: Action) => order?.indexOf(name) ?? 0;
  return actions.toSorted((left, right) => rank(left) - rank(right));
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
