import type { Overview } from "../../../../sandbox/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { requestControl } from "../../api.ts";
import { nameInWords } from "../../format.ts";
import type { ViewContext } from "../../view.ts";
import { control, fieldOf, numberOf } from "./control.ts";

/** The selected values of the forms, which determine their other fields. */
const chosen = { name: "answer-lost", layer: "relayer", action: "hold" };

/** The named faults that can be limited to one write of the API. */
const ofWrites = ["answer-lost", "crash", "slow"];

const crashes = html`<p class="notice warn">A crash ends the sandbox's process, as kill -9 does. Start it again to continue.</p>`;

/** A fault in words. */
export function describeFault({
  layer,
  point,
  action,
  match,
  remaining,
  hits,
}: Overview["faults"][number]): string {
  const who = Object.entries(match)
    .map(([field, value]) => (field === "occurrence" ? `occurrence ${value}` : value))
    .join(", ");
  const acted = hits === 1 ? "once" : `${hits} times`;
  const left = remaining === null ? "until it is cleared" : `${remaining} left`;
  const where = /^(?:after|before|at)_/.test(point) ? nameInWords(point) : `at ${nameInWords(point)}`;
  return `${layer}: ${nameInWords(action)} ${where}${who && ` for ${who}`}: acted ${acted}, ${left}`;
}

/** Renders the faults: those that are set, the button that clears them, a form for the common ones, and one for all others. */
export function faultsPanel(context: ViewContext): TemplateResult {
  const { faults: set } = context.overview;
  return html`<section class="panel" aria-labelledby="faults">
    <h2 id="faults">Faults</h2>
    ${
      set.length === 0
        ? html`<p class="quiet">None is set.</p>`
        : html`<ul>${set.map((fault) => html`<li>${describeFault(fault)}</li>`)}</ul>
            ${control(context, {
              label: "Clear the faults",
              done: "No fault is set any more.",
              act: () => requestControl("DELETE", "/faults"),
            })}`
    }
    ${control(context, {
      label: "Set the fault",
      done: "The fault is set.",
      act: setNamed,
      fields: namedFields(context),
    })}
  </section>
  <section class="panel" aria-labelledby="all-faults">
    <h2 id="all-faults">All faults, by layer</h2>
    ${control(context, {
      label: "Set this fault",
      done: "The fault is set.",
      act: setPlaced,
      fields: placedFields(context),
    })}
  </section>`;
}

async function setNamed(form: FormData): Promise<unknown> {
  const operation = fieldOf(form, "operation");
  return await requestControl("POST", "/faults", {
    intent: fieldOf(form, "name"),
    ...(operation === "" ? {} : { operation }),
    ...occurrenceOf(form, "named-occurrence"),
  });
}

async function setPlaced(form: FormData): Promise<unknown> {
  const { layer, action } = chosen;
  const subject = fieldOf(form, "subject");
  const count = fieldOf(form, "always") === "on" ? null : numberOf(form, "count");
  return await requestControl("POST", "/faults", {
    layer,
    action,
    point: fieldOf(form, "point"),
    ...(layer === "chain" ? {} : { count }),
    match: { ...(subject === "" ? {} : { subject_id: subject }), ...occurrenceOf(form, "occurrence") },
    ...(action === "reorg" ? { depth: numberOf(form, "depth") } : {}),
    ...(action === "answer" ? { status: numberOf(form, "status") } : {}),
    ...(action === "delay" ? { delay_ms: numberOf(form, "delay") } : {}),
  });
}

/** The first match on which the fault acts; nothing if that is the first one, or the form has no such field. */
function occurrenceOf(form: FormData, name: string): { occurrence?: number } {
  const occurrence = numberOf(form, name);
  return occurrence > 1 ? { occurrence } : {};
}

/** The fields of a fault that has a name. */
function namedFields(context: ViewContext): TemplateResult {
  const { intents, operations } = context.overview.fault_choices;
  return html`${select("name", "Fault", intents, chosen.name, (name) => {
    chosen.name = name;
    context.redraw();
  })}
  ${
    ofWrites.includes(chosen.name)
      ? html`<div class="field">
        <label for="operation">Only for</label>
        <select id="operation" name="operation">
          <option value="">any write</option>
          ${operations.map((id) => html`<option value=${id}>${id}</option>`)}
        </select>
      </div>`
      : nothing
  }
  ${chosen.name === "reorg" ? nothing : number("named-occurrence", "From match number", 1)}
  ${chosen.name === "crash" ? crashes : nothing}`;
}

/** The fields of any fault: the actions follow from the layer, the points from the action, and some actions have a detail. */
function placedFields(context: ViewContext): TemplateResult {
  const { matrix } = context.overview.fault_choices;
  const actions = matrix[chosen.layer] ?? {};
  const points = actions[chosen.action] ?? [];
  const isSubject = chosen.layer === "api" || chosen.layer === "relayer";
  return html`${select("layer", "Layer", Object.keys(matrix), chosen.layer, (layer) => {
    chosen.layer = layer;
    chosen.action = Object.keys(matrix[layer] ?? {})[0] ?? "";
    context.redraw();
  })}
  ${select("action", "What happens", Object.keys(actions), chosen.action, (action) => {
    chosen.action = action;
    context.redraw();
  })}
  <div class="field">
    <label for="point">Where</label>
    <select id="point" name="point">
      ${points.map((point) => html`<option value=${point}>${nameInWords(point)}</option>`)}
    </select>
  </div>
  ${
    isSubject
      ? html`<div class="field">
        <label for="subject">Only for id</label>
        <input id="subject" name="subject" autocomplete="off" placeholder="any object" />
      </div>`
      : nothing
  }
  ${chosen.action === "reorg" ? number("depth", "Blocks that leave", 1) : nothing}
  ${chosen.action === "answer" ? number("status", "Status", 503) : nothing}
  ${chosen.action === "delay" ? number("delay", "Milliseconds", 1_000) : nothing}
  ${
    chosen.layer === "chain"
      ? html`<p class="quiet">It takes effect at once.</p>`
      : html`${number("occurrence", "From match number", 1)}
        ${number("count", "How often", 1)}
        <p class="check-field">
          <input id="always" name="always" type="checkbox" /><label for="always">Until it is cleared</label>
        </p>`
  }
  ${chosen.action === "crash" ? crashes : nothing}`;
}

function select(
  name: string,
  label: string,
  values: readonly string[],
  current: string,
  choose: (value: string) => void,
): TemplateResult {
  const change = (event: Event) => {
    if (event.target instanceof HTMLSelectElement) choose(event.target.value);
  };
  return html`<div class="field">
    <label for=${name}>${label}</label>
    <select id=${name} name=${name} @change=${change}>
      ${values.map((value) => html`<option value=${value} ?selected=${value === current}>${nameInWords(value)}</option>`)}
    </select>
  </div>`;
}

function number(name: string, label: string, value: number): TemplateResult {
  return html`<div class="field">
    <label for=${name}>${label}</label>
    <input id=${name} name=${name} type="number" min="1" value=${value} />
  </div>`;
}
