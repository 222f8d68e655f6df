import type { ExplorerChange } from "../../../sandbox/activity/views.ts";

/** One message of an event stream; comments are messages with data only. */
export interface StreamMessage {
  id: string | null;
  event: string;
  data: string;
}

/** An open event stream. */
export interface OpenStream {
  status: number;
  headers: Headers;
  /** The next message that matches; null when the stream ended before one came. */
  next(matches?: (message: StreamMessage) => boolean): Promise<StreamMessage | null>;
  /** The next change with a topic. */
  change(topic: string): Promise<ExplorerChange>;
  close(): void;
}

/** Opens an event stream and reads it message by message, comments included. */
export async function openStream(url: string, headers: { [name: string]: string } = {}): Promise<OpenStream> {
  const stop = new AbortController();
  const response = await fetch(url, { headers, signal: stop.signal });
  const messages = read(response);
  const next: OpenStream["next"] = async (matches = () => true) => {
    for (;;) {
      const { value, done } = await messages.next();
      if (done) return null;
      if (matches(value)) return value;
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    async change(topic) {
      const message = await next(
        ({ event, data }) => event === "change" && parse(data).topics.some((one) => one === topic),
      );
      if (message === null) throw new Error(`The stream ended without a change of ${topic}.`);
      return parse(message.data);
    },
    close: () => stop.abort(),
  };
}

function parse(data: string): ExplorerChange {
  return JSON.parse(data);
}

async function* read(response: Response): AsyncGenerator<StreamMessage, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield toMessage(block);
  }
}

function toMessage(block: string): StreamMessage {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }),
  );
  const comment = fields.get("");
  return {
    id: fields.get("id") ?? null,
    event: comment === undefined ? (fields.get("event") ?? "") : "comment",
    data: comment ?? fields.get("data") ?? "",
  };
}
