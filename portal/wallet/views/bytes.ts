import { html } from "../../vendor/lit-html/lit-html.js";
import { toHex } from "../sending/perform.ts";
import type { Action, Capabilities } from "../wallet-api.ts";
import { viewFields } from "./fields.ts";

/** Shows the exact bytes of a call: its selector and its words of 32 bytes, and all of it to copy. */
export function viewCalldata({ data }: NonNullable<Action["transaction"]>) {
  const digits = data.slice(10);
  const count = Math.ceil(digits.length / 64);
  const wordsOf32 = Array.from({ length: count }, (_, at) => digits.slice(at * 64, at * 64 + 64));
  return html`<details>
    <summary>Exact bytes to send (${(data.length - 2) / 2})</summary>
    <div class="bytes">
      <table>
        <caption class="unseen">Calldata, word by word</caption>
        <thead><tr><th scope="col">Byte</th><th scope="col">Hexadecimal</th></tr></thead>
        <tbody>
          <tr><td class="number">0</td><td><code>${data.slice(0, 10)}</code> <span class="quiet small">selector</span></td></tr>
          ${wordsOf32.map((word, at) => html`<tr><td class="number">${4 + 32 * at}</td><td><code>${word}</code></td></tr>`)}
        </tbody>
      </table>
      <h4>As one</h4>
      <p><code class="raw">${data}</code></p>
    </div>
  </details>`;
}

/** Shows what is signed: the text or the fields, their bytes and the digest. */
export function viewSignature(sign: NonNullable<Action["sign"]>, contracts: Capabilities["contracts"]) {
  if (sign.method === "personal_sign")
    return html`<h4>The message</h4>
      <pre tabindex="0">${sign.message}</pre>
      <details>
        <summary>Exact bytes to sign (${toHex(sign.message).length / 2 - 1})</summary>
        <div class="bytes">
          <p><code class="raw">${toHex(sign.message)}</code></p>
          <h4>Digest (EIP-191)</h4>
          <p><code>${sign.digest}</code></p>
        </div>
      </details>`;
  const { domain, types, primaryType, message } = sign.typed_data;
  const members = (types[primaryType] ?? []).map(({ type, name }) => `${type} ${name}`).join(",");
  return html`<h4>The ${primaryType.toLowerCase()} to sign</h4>
    ${viewFields(message, contracts)}
    <details>
      <summary>Exact bytes to sign (typed data)</summary>
      <div class="bytes">
        <h4>Type</h4>
        <p><code>${primaryType}(${members})</code></p>
        <h4>Domain</h4>
        ${viewFields(domain, contracts)}
        <h4>Digest (EIP-712)</h4>
        <p><code>${sign.digest}</code></p>
      </div>
    </details>`;
}
