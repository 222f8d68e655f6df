import type { ChangeTopic } from "../../sandbox/activity/views.ts";
import type { Overview } from "../../sandbox/explorer/views.ts";
import type { TemplateResult } from "../vendor/lit-html/lit-html.js";
import type { Measure } from "./format.ts";
import type { PageAddress } from "./page-address.ts";

/** The data that every view is drawn with, besides its own. */
export interface ViewContext {
  pageAddress: PageAddress;
  overview: Overview;
  measure: Measure;
  /** Whether the page is a trace, in which nothing can be changed. */
  isRecorded: boolean;
  /** Does something through the control API, says what came of it, and reads again. */
  act(said: string, action: () => Promise<unknown>): Promise<void>;
  /** Draws again, after something that only the page knows has changed. */
  redraw(): void;
}

/** One view of the explorer. */
export interface View<Data = unknown> {
  /** Returns the title for the browser's tab and history. */
  title(pageAddress: PageAddress): string;
  /** The heading while it is read, where the title is another one. */
  heading?: string;
  /** The changes after which it is read again. */
  topics: readonly ChangeTopic[];
  load(pageAddress: PageAddress): Promise<Data>;
  draw(data: Data, context: ViewContext): TemplateResult;
}

/** Defines a view; what `draw` is given follows from `load`. */
export function defineView<Data>(view: View<Data>): View {
  return {
    ...view,
    // The data is always what this view's own load gave.
    draw: (data, context) => view.draw(data as Data, context),
  };
}
