import { type CustomTransport, custom, RpcRequestError } from "viem";
import type { WebSocket } from "ws";
import { z } from "zod";
import { closedMessage } from "../../lib/errors/closed-error.ts";
import { openDirectSocket } from "../../lib/http/direct/open-direct-socket.ts";
import { readJson } from "../../lib/read-json.ts";
import { afterRunning, clearInterval } from "../../lib/time/timers.ts";
import { AnvilSilentError } from "./anvil-silent-error.ts";

/** The longest time for a node's answer, in milliseconds. */
const answerTimeoutMs = 10_000;
/** The same for what Anvil computes for seconds, which a busy machine makes many: the first transaction with a blob, the dump of a long chain. */
const slowAnswerTimeoutMs = 60_000;

/** The largest size of an answer, in bytes: the dump of a long chain, which is one text. */
const largestAnswer = 2 ** 29 - 1;

/** The number of requests in one message, and of messages in progress at the same time, at most. */
const batchSize = 128;
const lineCount = 4;

// As it was when the package was loaded: tests with fake timers replace it.
const { nextTick } = process;

/** A node's WebSockets as a viem transport; they hold the process until they are closed. */
export interface NodeSocket {
  transport: CustomTransport;
  /** Fails what is not answered yet, and whatever is asked later, at once. */
  close(): void;
}

interface Question {
  method: string;
  params?: unknown;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

const answersSchema = z.array(
  z.object({
    id: z.int(),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  }),
);

/**
 * Speaks JSON-RPC 2.0 over WebSockets: what is asked in one turn of the event loop goes as one message, without waiting for more.
 *
 * viem's HTTP transport makes a fetch of each question, or has a timer gather them; either takes several times as long as Anvil's
 * answer. One message is in progress on each socket: Anvil would hold a second answer back until the first is acknowledged,
 * which TCP delays.
 *
 * @param url - of the node's HTTP server; a function for one that may change, which is asked for each connection.
 */
export function nodeSocket(url: string | (() => string)): NodeSocket {
  const urlNow = typeof url === "string" ? () => url : url;
  const lines = Array.from({ length: lineCount }, () => new Line(urlNow));
  const ownLines: Line[] = [];
  const asked: Question[] = [];
  let closed = false;
  const askAlone = (question: Question) => {
    let line = ownLines.find(({ idle }) => idle);
    if (line === undefined) {
      line = new Line(urlNow);
      ownLines.push(line);
    }
    void line.exchange([question]);
  };
  const flush = () => {
    if (closed)
      for (const question of asked.splice(0)) question.reject(new AnvilSilentError(closedMessage, "closed"));
    for (const line of lines)
      if (asked.length > 0 && line.idle) void line.exchange(asked.splice(0, batchSize)).finally(flush);
  };
  const ask = (question: { method: string; params?: unknown }) =>
    new Promise<unknown>((resolve, reject) => {
      if (awaitsBlock(question) && !closed) {
        askAlone({ ...question, resolve, reject });
        return;
      }
      // A tick comes after all microtasks of the turn, in which the other questions are asked.
      if (asked.length === 0) nextTick(flush);
      asked.push({ ...question, resolve, reject });
    });
  return {
    transport: custom({ request: ask }, { retryCount: 0 }),
    close() {
      closed = true;
      for (const line of [...lines, ...ownLines]) line.close();
      flush();
    },
  };
}

/** One WebSocket, which is opened with the first question and again when the node has closed it. */
class Line {
  readonly #urlNow: () => string;
  #open: Promise<WebSocket> | undefined;
  #socket: WebSocket | undefined;
  #underWay: { resolve: (text: string) => void; reject: (error: Error) => void } | undefined;
  idle = true;

  constructor(urlNow: () => string) {
    this.#urlNow = urlNow;
  }

  close(): void {
    // A node that hangs would not answer the closing handshake.
    this.#underWay?.reject(new AnvilSilentError(closedMessage, "closed"));
    this.#socket?.close();
  }

  /** Asks questions in one message and settles each; what is wrong with the exchange is wrong with all of them. */
  async exchange(questions: readonly Question[]): Promise<void> {
    this.idle = false;
    const body = questions.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
    try {
      const timeoutMs = questions.some(isSlow) ? slowAnswerTimeoutMs : answerTimeoutMs;
      const answers = answersSchema.parse(JSON.parse(await this.#send(JSON.stringify(body), timeoutMs)));
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      for (const [id, { method, params, resolve, reject }] of questions.entries()) {
        const answer = byId.get(id);
        if (answer === undefined) throw new Error("The node left out a response.");
        if (answer.error === undefined) resolve(answer.result);
        else reject(new RpcRequestError({ body: { method, params }, error: answer.error, url: "the chain" }));
      }
    } catch (error) {
      const silence =
        error instanceof AnvilSilentError ? error : new AnvilSilentError("Anvil's response cannot be read.");
      for (const { reject } of questions) reject(silence);
    }
    this.idle = true;
  }

  async #send(message: string, timeoutMs: number): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#underWay = { resolve, reject };
    const late = afterRunning(timeoutMs, () => {
      reject(new AnvilSilentError(`Anvil gave no response within ${timeoutMs / 1_000} s.`));
      // A late answer must not be taken for the answer to the next message, which has a socket of its own.
      this.#open = undefined;
      this.#socket?.close();
    });
    this.#open ??= this.#connect();
    this.#open.then((socket) => socket.send(message)).catch(reject);
    try {
      return await promise;
    } finally {
      clearInterval(late);
    }
  }

  #connect(): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const socket = openDirectSocket(this.#urlNow(), { maxPayload: largestAnswer });
      this.#socket = socket;
      const isCurrent = () => this.#socket === socket;
      socket.onopen = () => resolve(socket);
      socket.onmessage = ({ data }) => {
        const text = String(data);
        if (isCurrent() && !isAnnouncement(text)) this.#underWay?.resolve(text);
      };
      // A close follows.
      socket.onerror = () => {};
      socket.onclose = () => {
        const error = new AnvilSilentError("Anvil accepts no connection, or has closed it.");
        reject(error);
        if (!isCurrent()) return;
        this.#open = undefined;
        this.#underWay?.reject(error);
      };
    });
  }
}

/** Returns whether a message is no answer to a batch but what a subscription announces: an answer would be taken for that of the next request. */
function isAnnouncement(text: string): boolean {
  return text.startsWith("{") && announcement.safeParse(readJson(text)).success;
}

const announcement = z.looseObject({ method: z.literal("eth_subscription") });

/**
 * Returns whether Anvil answers a request when it has made a block. It goes alone on a socket, as no other request may wait for that.
 *
 * @example awaitsBlock({ method: "eth_sendRawTransactionSync" }) // true
 */
export function awaitsBlock({ method }: { method: string }): boolean {
  return method.endsWith("TransactionSync");
}

/** Returns whether Anvil may take seconds for a request, such as a signed transaction with blobs (EIP-4844). */
function isSlow({ method, params }: Question): boolean {
  // Anvil itself gives up waiting for a block after 30 s.
  if (method === "anvil_dumpState" || awaitsBlock({ method })) return true;
  if (method !== "eth_sendRawTransaction" || !Array.isArray(params)) return false;
  return String(params[0]).startsWith("0x03");
}
