import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { actionGroups } from "../next-action.ts";
import type { PageState } from "../page-state.ts";
import type { ActionName, WalletView } from "../wallet-api.ts";
import { type Deeds, isConcerned, viewAction } from "./action.ts";
import { actionWords } from "./action-words.ts";
import { titleOf, viewEnrollment, viewReceipt, viewSummary } from "./summary.ts";

/** Shows the whole page. */
export function viewPage(state: PageState, deeds: Deeds) {
  const { wallet, capabilities, failure } = state;
  if (failure !== null)
    return html`<h1 tabindex="-1">Nothing to show</h1>
      <div class="notice bad" role="alert"><p>${failure}</p></div>
      <p><button type="button" @click=${() => deeds.reload()}>Try again</button></p>`;
  if (wallet === null || capabilities === null) return html`<p role="status">Reading the actions …</p>`;
  const { token } = capabilities.contracts;
  const title = titleOf(wallet, token);
  document.title = `${title} · Routing sandbox`;
  return html`<div class="receipt" aria-live="polite">
      <h1 tabindex="-1">${title}</h1>
      ${viewEnrollment(wallet, token)} ${viewReceipt(wallet, token)}
    </div>
    ${viewSummary(wallet, capabilities)}
    ${wallet.actions.some(({ allowed }) => allowed) ? viewWallets(state, deeds) : nothing}
    ${viewActions(wallet, state, deeds)}`;
}

/** The steps of the wallets whose turn it is or was, one after the other; the other actions are folded together. */
function viewActions({ actions }: WalletView, state: PageState, deeds: Deeds) {
  const view = (name: ActionName, step?: number) => {
    const action = actions.find((offered) => offered.name === name);
    return action === undefined ? nothing : viewAction(action, state, deeds, step);
  };
  const offered = actionGroups.filter((group) =>
    group.some((name) => actions.some((one) => one.name === name)),
  );
  const current = offered.filter((group) => group.some((name) => isConcerned(name, state)));
  const others = offered.filter((group) => !current.includes(group)).flat();
  return html`${current.map(
    (group) =>
      html`<div class="panel steps">${group.map((name, at) => view(name, group.length > 1 ? at + 1 : undefined))}</div>`,
  )}
  ${
    others.length === 0
      ? nothing
      : html`<details class="panel others">
        <summary>Other actions <span class="small quiet">${others.map((name) => actionWords[name].title).join(", ")}</span></summary>
        <div class="steps">${others.map((name) => view(name))}</div>
      </details>`
  }`;
}

function viewWallets({ offered, connection, waitsFor, connectionFailure }: PageState, deeds: Deeds) {
  const needsTestKeys = connection === null && !offered.some(({ test }) => !test);
  return html`<section class="panel" aria-labelledby="wallets">
    <h2 id="wallets">${connection === null ? "Choose your wallet" : "Your wallet"}</h2>
    <div class="row">
      ${offered.map(
        (
          wallet,
        ) => html`<button type="button" class=${needsTestKeys ? "primary" : nothing} aria-pressed=${connection?.wallet.id === wallet.id ? "true" : "false"}
          @click=${() => deeds.connect(wallet.id)}>
          ${wallet.icon === null ? nothing : html`<img src=${wallet.icon} alt="" width="20" height="20">`}
          ${wallet.name}
        </button>`,
      )}
    </div>
    ${
      needsTestKeys
        ? html`<p class="small quiet">This browser has no wallet extension. The test keys need none.</p>`
        : nothing
    }
    ${
      connection?.wallet.test
        ? html`<p class="notice warn small">The sandbox signs for the account of each step, with keys that are public. Never send real funds to
          these addresses.</p>`
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
      ${waitsFor === null ? nothing : html`<p>${waitsFor.name} has not answered yet. Open it, unlock it if it is locked, and confirm.</p>`}
      ${connectionFailure === null ? nothing : html`<p class="error" role="alert">${connectionFailure}</p>`}
    </div>
  </section>`;
}
