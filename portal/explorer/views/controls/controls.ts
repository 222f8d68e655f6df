import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { requestControl } from "../../api.ts";
import { formatTime } from "../../format.ts";
import { defineView, type ViewContext } from "../../view.ts";
import { control, fieldOf, numberOf } from "./control.ts";
import { faultsPanel } from "./faults.ts";

const seconds: { readonly [unit: string]: number } = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };
const mining = [
  ["transaction", "with every transaction"],
  ["never", "only when told to"],
  ["1", "every second"],
  ["12", "every 12 seconds"],
] as const;
const keys = ["notifications", "receipts", "reviewer"];

/** A snapshot that the control API has taken. */
interface KeptSnapshot {
  number: number;
  /** Unix seconds. */
  now: number;
}

/** The view of the actions on the sandbox. */
export const controlsView = defineView<{ data: KeptSnapshot[] }>({
  title: () => "Controls",
  topics: [],
  load: () => requestControl("GET", "/snapshots"),
  draw: ({ data }, context) => html`
    <h1 tabindex="-1">Controls</h1>
    <div class="columns even">
      <div class="stack">
        ${context.overview.own_chain ? html`${clock(context)} ${snapshots(data, context)}` : nothing} ${keyRing(context)}
      </div>
      <div class="stack">${faultsPanel(context)}</div>
    </div>
  `,
});

function clock(context: ViewContext) {
  return html`<section class="panel" aria-labelledby="clock">
    <h2 id="clock">Clock and blocks</h2>
    <p>It is <strong>${formatTime(context.overview.now)}</strong> UTC at block ${context.overview.block.number}.</p>
    ${control(context, {
      label: "Travel",
      done: "Time was moved forward, and a block was mined.",
      act: (form) =>
        requestControl("POST", "/clock", {
          seconds: numberOf(form, "amount") * (seconds[fieldOf(form, "unit")] ?? 1),
        }),
      fields: html`<div class="field">
          <label for="amount">Ahead by</label>
          <input id="amount" name="amount" type="number" min="1" value="1" required />
        </div>
        <div class="field">
          <label for="unit">Unit</label>
          <select id="unit" name="unit">
            ${Object.keys(seconds).map((unit) => html`<option value=${unit}>${unit}</option>`)}
          </select>
        </div>`,
    })}
    ${control(context, {
      label: "Mine",
      done: "The blocks were mined.",
      act: (form) => requestControl("POST", "/blocks", { blocks: numberOf(form, "blocks") }),
      fields: html`<div class="field">
        <label for="blocks">Blocks</label>
        <input id="blocks" name="blocks" type="number" min="1" max="9999" value="1" required />
      </div>`,
    })}
    ${control(context, {
      label: "Set mining",
      done: "The mining mode was set.",
      act: (form) => {
        const every = fieldOf(form, "every");
        return requestControl("POST", "/mining", { every: Number(every) || every });
      },
      fields: html`<div class="field">
        <label for="every">Blocks come</label>
        <select id="every" name="every">
          ${mining.map(([every, told]) => html`<option value=${every}>${told}</option>`)}
        </select>
      </div>`,
    })}
  </section>`;
}

function snapshots(taken: readonly KeptSnapshot[], context: ViewContext) {
  return html`<section class="panel" aria-labelledby="snapshots">
    <h2 id="snapshots">Snapshots</h2>
    <p class="quiet">Chain, records, relayer, clock and faults as one.</p>
    ${taken.map(({ number, now }) =>
      control(context, {
        label: `Go back to snapshot ${number}`,
        done: `Everything is as it was at snapshot ${number}.`,
        act: () => requestControl("POST", `/snapshots/${number}/restore`),
        fields: html`<p>Snapshot ${number}, ${formatTime(new Date(now * 1_000).toISOString())}</p>`,
      }),
    )}
    ${control(context, {
      label: "Take a snapshot",
      done: "A snapshot was taken; it is kept while the sandbox runs.",
      act: () => requestControl("POST", "/snapshots"),
      fields: html`<p><a href="/snapshot" download="sandbox.snapshot">Save everything to a file</a></p>`,
    })}
  </section>`;
}

function keyRing(context: ViewContext) {
  return html`<section class="panel" aria-labelledby="keys">
    <h2 id="keys">Keys</h2>
    <p class="quiet">New keys sign from now on. Old signatures remain valid, and the old public keys remain published.</p>
    ${control(context, {
      label: "Rotate",
      done: "The keys were rotated.",
      act: (form) => {
        const use = fieldOf(form, "use");
        return requestControl("POST", "/keys/rotate", use === "" ? {} : { uses: [use] });
      },
      fields: html`<div class="field">
        <label for="use">Which</label>
        <select id="use" name="use">
          <option value="">all of them</option>
          ${keys.map((use) => html`<option value=${use}>${use}</option>`)}
        </select>
      </div>`,
    })}
  </section>`;
}
