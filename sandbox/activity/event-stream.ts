import type { Request, Response } from "express";
import { clearInterval, setInterval } from "../lib/time/timers.ts";
import type { ChangeFeed, NumberedChange } from "./change-feed.ts";

/** The number of clients that are served at the same time. */
const mostClients = 64;

interface Client {
  response: Response;
  /** Set while the client does not take what was written. */
  lagging: boolean;
  /** Set when something was not written because the client lags; once it takes data again, it gets the topic that means to read everything again. */
  missed: boolean;
  stop: () => void;
}

/**
 * Serves a feed as server-sent events: a change each, with ids that a client resumes from (`Last-Event-ID`).
 *
 * Nothing is kept for a client that does not read: when it takes data again, it gets the topic that means to read everything again.
 */
export class EventStream {
  readonly #feed: ChangeFeed;
  readonly #clients = new Set<Client>();
  readonly #heartbeat: NodeJS.Timeout;
  #closed = false;

  /** @param heartbeatMs - how often a client gets a heartbeat. */
  constructor(feed: ChangeFeed, heartbeatMs: number) {
    this.#feed = feed;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  /** The number of connected clients. */
  get size(): number {
    return this.#clients.size;
  }

  /** Answers a request with the stream, until the client or {@link close} ends it. */
  open(request: Request, response: Response): void {
    if (this.#closed || this.#clients.size >= mostClients) {
      response.set("Retry-After", "5").status(503).end();
      return;
    }
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      // The connection ends with the stream, so that nothing waits for it.
      Connection: "close",
    });
    response.socket?.setNoDelay(true);
    const client: Client = { response, lagging: false, missed: false, stop: () => {} };
    const seen = request.get("last-event-id") ?? onlyText(request.query["last_event_id"]);
    const missed = seen === undefined ? [] : this.#feed.since(seen);
    write(client, "retry: 1000\n\n");
    if (missed === null) this.#refresh(client);
    else if (seen === undefined) write(client, `id: ${this.#feed.latest()}\nevent: ready\ndata: {}\n\n`);
    else {
      write(client, `event: ready\ndata: {}\n\n`);
      for (const change of missed) write(client, toMessage(change));
    }
    client.stop = this.#feed.listen((change) => write(client, toMessage(change)));
    this.#clients.add(client);
    response.on("drain", () => {
      client.lagging = false;
      if (client.missed) this.#refresh(client);
      client.missed = false;
    });
    response.once("close", () => this.#forget(client));
  }

  /** Ends every stream at once; no new one begins. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#heartbeat);
    for (const client of [...this.#clients]) {
      this.#forget(client);
      client.response.end();
      client.response.socket?.destroySoon();
    }
  }

  #refresh(client: Client): void {
    const change = { topics: ["everything"], purchases: null };
    write(client, `id: ${this.#feed.latest()}\nevent: change\ndata: ${JSON.stringify(change)}\n\n`);
  }

  /** A client that lagged at the beat before, too, is gone. */
  #beat(): void {
    for (const client of [...this.#clients])
      if (client.missed) client.response.destroy();
      else write(client, ": still here\n\n");
  }

  #forget(client: Client): void {
    client.stop();
    this.#clients.delete(client);
  }
}

function write(client: Client, text: string): void {
  if (client.lagging) client.missed = true;
  else client.lagging = !client.response.write(text);
}

function toMessage({ id, topics, purchases }: NumberedChange): string {
  return `id: ${id}\nevent: change\ndata: ${JSON.stringify({ topics, purchases })}\n\n`;
}

function onlyText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
