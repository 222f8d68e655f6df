import type { ExplorerChange } from "../../../sandbox/activity/views.ts";

/** The state of the connection that the page hears of changes by; a trace has none. */
export type StreamState = "connecting" | "live" | "gone" | "recorded";

/** The pause before a stream that the browser has closed is opened again, in milliseconds. */
const pauseMs = 1_000;

/**
 * Follows the stream of changes for as long as the page is looked at. A page that was away, or missed too much, reads that everything may have
 * changed.
 */
export function followChanges(listener: {
  changed: (change: ExplorerChange) => void;
  connected: (connection: StreamState) => void;
}): void {
  let source: EventSource | null = null;
  let seen = "";
  let wasGone = false;

  function open(): void {
    source?.close();
    const opened = new EventSource(seen === "" ? "/stream" : `/stream?last_event_id=${seen}`);
    source = opened;
    opened.addEventListener("ready", ({ lastEventId }) => {
      seen = lastEventId || seen;
      listener.connected("live");
      if (wasGone) listener.changed({ topics: ["everything"], purchases: null });
      wasGone = false;
    });
    opened.addEventListener("change", ({ data, lastEventId }) => {
      seen = lastEventId;
      wasGone = false;
      listener.connected("live");
      listener.changed(JSON.parse(data));
    });
    opened.addEventListener("error", () => {
      wasGone = true;
      listener.connected("gone");
      // The browser tries again by itself, unless the answer was not a stream.
      if (opened.readyState === EventSource.CLOSED && opened === source)
        setTimeout(() => opened === source && open(), pauseMs);
    });
  }

  // A browser has few connections to one host: hidden pages leave them to the others.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") open();
    else source?.close();
  });
  open();
}
