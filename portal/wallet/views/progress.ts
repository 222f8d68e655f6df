import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import type { Progress } from "../sending/perform.ts";
import type { ProblemBody } from "../wallet-api.ts";

/** The remedy for each error code. */
const remedies: { readonly [code: string]: string } = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name="remedies"]')?.content ?? "{}",
);

/** Shows how far an action is that is not accepted yet, and of a refusal everything that the service says about it. */
export function viewProgress(progress: Exclude<Progress, { at: "accepted" }>) {
  switch (progress.at) {
    case "signing":
      return notice("", "Your wallet asks you to sign. Nothing is sent yet.");
    case "sending":
      return notice("", "Your wallet asks you to send the transaction.");
    case "elsewhere":
      return notice(
        "",
        "Another tab of this browser is performing this action. This page continues when that tab is done.",
      );
    case "pending":
      return notice("", html`Sent: <code>${progress.transactionHash}</code> is pending.`);
    case "confirming":
      return notice(
        "",
        html`Mined: <code>${progress.transactionHash}</code> has ${progress.confirmations} of ${progress.needed}
          confirmations.`,
      );
    case "unknown":
      return html`<div class="notice bad" role="alert"><p>The chain no longer has <code>${progress.transactionHash}</code>: it was replaced, or a
        restore, a reorg or the node dropped it. If the page still offers the action, start the action again.</p></div>`;
    case "retrying":
      return notice("warn", progress.why);
    case "declined":
      return notice("warn", "You declined in the wallet. Nothing was sent; you can start again.");
    case "stopped":
      return html`<div class="notice bad" role="alert"><p>${progress.text}</p></div>`;
    case "refused":
      return viewProblem(progress.problem);
  }
}

function notice(tone: "" | "warn", content: unknown) {
  return html`<div class="notice ${tone}"><p>${content}</p></div>`;
}

function viewProblem({ title, detail, code, type, errors = [], binding }: ProblemBody) {
  const failed = binding?.checks.filter(({ ok }) => !ok) ?? [];
  return html`<div class="notice bad" role="alert">
    <p><strong>${title}.</strong> ${detail}</p>
    ${errors.map((error) => html`<p><code>${error.pointer}</code> ${error.detail}</p>`)}
    ${
      failed.length === 0
        ? nothing
        : html`<details>
          <summary>Details: the checks that failed</summary>
          <table>
          <caption class="unseen">Checks that failed</caption>
          <thead><tr><th scope="col">Check</th><th scope="col">Expected</th><th scope="col">Actual</th></tr></thead>
          <tbody>
            ${failed.map(
              ({ name, expected, actual }) =>
                html`<tr><td>${name}</td><td><code>${asText(expected)}</code></td><td><code>${asText(actual)}</code></td></tr>`,
            )}
          </tbody>
        </table>
        </details>`
    }
    <p class="small">${remedies[code] ?? nothing} <a href=${type}>More about this error</a></p>
  </div>`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
