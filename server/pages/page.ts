import { renderTemplate } from "../documentation/render-template.ts";
import type { Answer } from "../http/answers/answer.ts";
import { escapeMarkup } from "../lib/escape-markup.ts";
import { withEtag } from "./assets.ts";
import { type PagePermissions, pageHeaders } from "./security-headers.ts";

/** A page: a file of portal/ and what it is filled in with. */
export interface Page extends PagePermissions {
  /** Below portal/, as in `wallet/page.html`. */
  file: string;
  /** Texts for its `{{name}}`s; markup in them is shown as text. */
  values?: { readonly [name: string]: string };
}

/** Answers a page under its strict Content-Security-Policy, with an ETag. */
export function answerPage(page: Page, ifNoneMatch: string | undefined): Answer {
  const { file, values = {} } = page;
  const escaped = Object.entries(values).map(([name, value]) => [name, escapeMarkup(value)]);
  const body = renderTemplate(file, Object.fromEntries(escaped));
  return withEtag({ status: 200, body, headers: pageHeaders(page) }, ifNoneMatch);
}
