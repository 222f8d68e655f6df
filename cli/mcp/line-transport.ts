import { once } from "node:events";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
  type RequestId,
  RequestIdSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../../protocol/coded-error.ts";
import { validate } from "../../server/http/request/validate.ts";
import type { Terminal } from "../terminal.ts";

/** The most characters of a line. */
const longestLine = 10 * 2 ** 20;

/** Requests with parameters: the SDK answers wrong ones as internal errors. */
const requests = [InitializeRequestSchema, ListToolsRequestSchema, CallToolRequestSchema];

/**
 * JSON-RPC messages over standard input and output, one in each line. Unlike the SDK's transport, it answers a line that is no message, and it can
 * wait for the responses of the requests that it has read.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the input ends. */
  readonly ended: Promise<unknown>;
  readonly #terminal: Terminal;
  /** The requests that have no response yet. */
  readonly #open: RequestId[] = [];
  readonly #answered = Promise.withResolvers<void>();
  #isReading = true;
  /** The beginning of a line whose end was not read yet. */
  #line = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.ended = once(terminal.stdin, "end").then(() => this.#read("\n"));
  }

  async start(): Promise<void> {
    this.#terminal.stdin.setEncoding("utf8").on("data", this.#read);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    if (!("method" in message) && message.id !== undefined) this.#forget(message.id);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  /** Reads no more, and resolves when every request that was read has its response. */
  async finish(): Promise<void> {
    this.#terminal.stdin.off("data", this.#read).pause();
    this.#isReading = false;
    this.#checkAnswered();
    await this.#answered.promise;
  }

  readonly #read = (text: string | Buffer): void => {
    const [end = "", ...lines] = text.toString().split("\n");
    // The rest of a line that is refused is no message of its own.
    if (this.#line.length <= longestLine) this.#line += end;
    for (const next of lines) {
      this.#receive(this.#line);
      this.#line = next;
    }
  };

  #receive(line: string): void {
    if (line.length > longestLine) {
      this.#refuse(null, ErrorCode.ParseError, `The line has more than ${longestLine} characters.`);
      return;
    }
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      const message = "The line is not valid JSON. Send each message as one line of JSON.";
      this.#refuse(null, ErrorCode.ParseError, message);
      return;
    }
    const { data: message } = JSONRPCMessageSchema.safeParse(value);
    if (message === undefined) {
      this.#refuse(idOf(value), ErrorCode.InvalidRequest, whyInvalid(value));
      return;
    }
    if (isJSONRPCRequest(message)) {
      const wrong = wrongParameters(message);
      if (wrong !== null) {
        this.#refuse(message.id, ErrorCode.InvalidParams, wrong);
        return;
      }
      this.#open.push(message.id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      // A canceled request gets no response.
      const { data: id } = RequestIdSchema.safeParse(message.params?.["requestId"]);
      if (id !== undefined) this.#forget(id);
    }
    this.onmessage?.(message);
  }

  #refuse(id: RequestId | null, code: ErrorCode, message: string): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: object): void {
    this.#terminal.stdout.write(`${JSON.stringify(message)}\n`);
  }

  #forget(id: RequestId): void {
    const at = this.#open.indexOf(id);
    if (at >= 0) this.#open.splice(at, 1);
    this.#checkAnswered();
  }

  #checkAnswered(): void {
    if (!this.#isReading && this.#open.length === 0) this.#answered.resolve();
  }
}

function whyInvalid(value: unknown): string {
  return Array.isArray(value)
    ? "A line has one message, not an array of them. Send each message as a line of its own."
    : 'The message is no JSON-RPC 2.0 request. Send one such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
}

/** Returns the id of a request that is wrong; null if it has none that can be sent back. */
function idOf(value: unknown): RequestId | null {
  const { data } = RequestIdSchema.safeParse(Reflect.get(Object(value), "id"));
  return data !== undefined && Reflect.has(Object(value), "method") ? data : null;
}

/** Says what is wrong with the parameters of a request; null if nothing is. */
function wrongParameters(message: { method: string; params?: unknown }): string | null {
  const schema = requests.find(({ shape }) => shape.method.value === message.method);
  if (schema === undefined) return null;
  try {
    validate(schema.shape.params, message.params, "/params");
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
