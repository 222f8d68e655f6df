import type { FaultView, Overview } from "../../../../sandbox/hosts/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { ask } from "../../api.ts";
import { words } from "../../format.ts";
import type { Scene } from "../../view.ts";
import { control, fieldOf, numberOf } from "./control.ts";

/** The action that the form is about; the points where it can act follow from it. */
let chosen = "hold";

/** A fault of the relayer in words. */
export function describeFault({ point, action, match, remaining, hits }: FaultView): string {
  const who = Object.values(match).join(", ");
  const left = remaining === null ? "until it is cleared" : `${remaining} more`;
  return `${words(action)} at ${words(point)}${who && ` for ${who}`}: acted ${hits}, ${left}`;
}

/** Renders the relayer's faults: those that are set, a form for more, and the button that clears all. */
export function relayerFaults(scene: Scene): TemplateResult {
  const { fault_placements: placements, faults } = scene.overview;
  const set = (form: FormData) => {
    const count = fieldOf(form, "always") === "on" ? null : numberOf(form, "count");
    const purchase = fieldOf(form, "subject");
    return ask("POST", "/faults", {
      point: fieldOf(form, "point"),
      action: fieldOf(form, "action"),
      count,
      ...(purchase === "" ? {} : { match: { subject_id: purchase } }),
      ...(fieldOf(form, "action") === "reorg" ? { depth: numberOf(form, "depth") } : {}),
    });
  };
  const choose = (event: Event) => {
    if (event.target instanceof HTMLSelectElement) chosen = event.target.value;
    scene.redraw();
  };
  return html`<section class="panel" aria-labelledby="faults">
    <h2 id="faults">Faults of the relayer</h2>
    ${list(faults.map(describeFault), "None is set.")}
    ${
      faults.length === 0
        ? nothing
        : control(scene, {
            label: "Clear the relayer's faults",
            done: "No fault of the relayer is set any more.",
            act: () => ask("DELETE", "/faults"),
          })
    }
    ${control(scene, {
      label: "Set the fault",
      done: "The fault is set.",
      act: set,
      fields: faultFields(placements, choose),
    })}
  </section>`;
}

/** The fields of a fault: the points follow from the chosen action, and a reorg has a depth. */
function faultFields(
  placements: Overview["fault_placements"],
  choose: (event: Event) => void,
): TemplateResult {
  return html`<div class="field">
    <label for="action">What happens</label>
    <select id="action" name="action" @change=${choose}>
      ${Object.keys(placements).map(
        (action) => html`<option value=${action} ?selected=${action === chosen}>${words(action)}</option>`,
      )}
    </select>
  </div>
  <div class="field">
    <label for="point">Where</label>
    <select id="point" name="point">
      ${(placements[chosen] ?? []).map((point) => html`<option value=${point}>${words(point)}</option>`)}
    </select>
  </div>
  <div class="field">
    <label for="subject">Only for purchase or refund</label>
    <input id="subject" name="subject" autocomplete="off" placeholder="any" />
  </div>
  <div class="field">
    <label for="count">How often</label>
    <input id="count" name="count" type="number" min="1" value="1" />
  </div>
  ${
    chosen === "reorg"
      ? html`<div class="field">
        <label for="depth">Blocks that leave</label>
        <input id="depth" name="depth" type="number" min="1" value="1" />
      </div>`
      : nothing
  }
  <p class="check-field">
    <input id="always" name="always" type="checkbox" /><label for="always">Until it is cleared</label>
  </p>
  ${
    chosen === "crash"
      ? html`<p class="notice warn">A crash ends the sandbox's process, as kill -9 does. Start it again to continue.</p>`
      : nothing
  }`;
}

/** Renders the faults of the sandbox's own receiver. */
export function deliveryFaults(scene: Scene): TemplateResult {
  const { delivery_faults: faults } = scene.overview;
  const set = (form: FormData) => {
    const count = numberOf(form, "count");
    const status = fieldOf(form, "status");
    return ask(
      "POST",
      "/receiver/failures",
      status === "drop" ? { count, drop: true } : { count, status: Number(status) },
    );
  };
  return html`<section class="panel" aria-labelledby="deliveries">
    <h2 id="deliveries">Faults of deliveries</h2>
    ${list(faults.map(describeDeliveryFault), "None is set.")}
    ${
      faults.length === 0
        ? nothing
        : control(scene, {
            label: "Clear the faults of deliveries",
            done: "Deliveries arrive again.",
            act: () => ask("DELETE", "/receiver/failures"),
          })
    }
    ${control(scene, {
      label: "Let deliveries fail",
      done: "The next deliveries fail.",
      act: set,
      fields: html`<div class="field">
          <label for="status">The receiver</label>
          <select id="status" name="status">
            <option value="503">answers 503</option>
            <option value="500">answers 500</option>
            <option value="410">answers 410, gone</option>
            <option value="drop">drops the connection</option>
          </select>
        </div>
        <div class="field">
          <label for="times">How often</label>
          <input id="times" name="count" type="number" min="1" max="1000" value="1" />
        </div>`,
    })}
  </section>`;
}

function describeDeliveryFault({ remaining, fault }: Overview["delivery_faults"][number]): string {
  const what = Object.entries(fault).map(([name, given]) => `${name} ${String(given)}`);
  return `${what.join(", ")}: ${remaining} more`;
}

function list(sentences: readonly string[], none: string): TemplateResult {
  return sentences.length === 0
    ? html`<p class="quiet">${none}</p>`
    : html`<ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;
}
