import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import type { ViewContext } from "../../view.ts";

/** Something that a person can do to the sandbox. */
interface Control {
  /** On the button. */
  label: string;
  /** The message after the action. */
  done: string;
  fields?: TemplateResult;
  act: (form: FormData) => Promise<unknown>;
}

/** A form that does one thing; what came of it is said by the page. */
export function control(context: ViewContext, { label, done, fields, act }: Control): TemplateResult {
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const button = event.submitter;
    button?.setAttribute("aria-busy", "true");
    await context.act(done, async () => await act(form));
    button?.removeAttribute("aria-busy");
  };
  return html`<form class="control" @submit=${submit}>
    ${fields ?? nothing}
    <button type="submit">${label}</button>
  </form>`;
}

/** A field of a form as text. */
export function fieldOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** A field of a form as a number. */
export function numberOf(form: FormData, name: string): number {
  return Number(fieldOf(form, name));
}
