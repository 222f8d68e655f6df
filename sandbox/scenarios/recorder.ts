import { isUtf8 } from "node:buffer";
import type { IncomingMessage, RequestListener } from "node:http";
import { Mutex } from "async-mutex";
import type { RequestHandler } from "express";
import type { Relayer } from "../../relayer/relayer.ts";
import { redact } from "../../server/http/redact.ts";
import { receiveNotification } from "../../server/notifications/receive-notification.ts";
import type { Store } from "../../server/store/store.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { collectBody } from "../lib/http/read-bytes.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import type { Part } from "../lib/part.ts";
import type { SandboxDescription } from "../options/description.ts";
import type { SandboxSettings } from "../options/settings.ts";
import { catchUp } from "../service/catch-up.ts";
import { ownAccounts } from "../service/keys.ts";
import { takeFingerprint } from "../snapshots/fingerprint.ts";
import { describeRequest, readBearer } from "./describe-request.ts";
import { readNewestBlock, readSteps, type SeenBlock } from "./read-steps.ts";
import { requireFresh } from "./require-fresh.ts";
import { blockName, describeEnd, type Scenario, type Step } from "./scenario.ts";
import { lostAnswer, watchAnswer } from "./watch-answer.ts";

interface Recording {
  title: string;
  steps: Step[];
  head: SeenBlock;
  /** Credentials by their secret. */
  credentials: Map<string, string>;
  /** The reason why it cannot be repeated. */
  unrepeatable: string | null;
}

/** The sources of a recording. */
interface RecorderSources {
  settings: SandboxSettings;
  gate: RequestGate;
  chain: ChainNode;
  store: Store;
  parts: readonly Part[];
  relayer: Relayer;
  description: SandboxDescription;
}

/**
 * Writes down what is done to a sandbox: requests to the API, transactions of wallets, blocks and time, and the control API.
 *
 * While it records, the API takes one request at a time, so that the order of steps is the order in which they were done.
 */
export class Recorder {
  readonly #sources: RecorderSources;
  readonly #turns = new Mutex();
  #recording: Recording | null = null;
  /** The reason why the last recording ended before it was stopped; null if none did. */
  #ended: string | null = null;

  constructor(sources: RecorderSources) {
    this.#sources = sources;
  }

  /** The number of recorded steps; null when nothing is recorded. */
  get steps(): number | null {
    return this.#recording?.steps.length ?? null;
  }

  /**
   * Begins a recording.
   *
   * @throws SandboxError scenario_refused unless there is a title, the sandbox is fresh and deterministic, and nothing is being
   * recorded.
   */
  async start(title: string): Promise<void> {
    const { chain, store, settings } = this.#sources;
    if (this.#recording !== null) throw refusal("A recording is in progress. Stop it first.");
    if (title === "") throw refusal("A scenario needs a title.");
    const head = await requireFresh({ settings, chain, store });
    this.#recording = { title, steps: [], head, credentials: new Map(), unrepeatable: null };
    this.#ended = null;
  }

  /** Ends a recording because the sandbox was restored, which a scenario does not repeat; `stop` then gives the reason. */
  restored(): void {
    if (this.#recording === null) return;
    this.#ended = this.#recording.unrepeatable ?? blocksLeft;
    this.#recording = null;
  }

  /**
   * Ends the recording.
   *
   * @throws SandboxError scenario_refused when nothing is recorded, or something was done that cannot be repeated.
   */
  async stop(): Promise<Scenario> {
    const { settings, chain, parts } = this.#sources;
    return await this.#turns.runExclusive(async () => {
      const recording = this.#recording;
      if (recording === null) {
        const ended = this.#ended;
        this.#ended = null;
        throw refusal(
          ended ?? "No scenario is being recorded. Start one with sandbox.record() or POST /scenario.",
        );
      }
      await this.#recordBlocks(recording, false);
      this.#recording = null;
      if (recording.unrepeatable !== null) throw refusal(recording.unrepeatable);
      const { seed, programs, accounts, confirmations, gasBudgetWei } = settings;
      return {
        format: "routing-sandbox-scenario",
        version: 1,
        title: recording.title,
        seed,
        programs: [...programs],
        ...(accounts.length === 0 ? {} : { accounts: [...accounts] }),
        confirmations,
        gas_budget_wei: gasBudgetWei.toString(),
        steps: recording.steps,
        end: describeEnd(await takeFingerprint(chain, parts)),
      };
    });
  }

  /** Wraps the API. */
  guard(handler: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#recording === null || !isStep(request)) handler(request, response);
      else void this.#record("api", request, response, () => handler(request, response));
    };
  }

  /** Runs before the control API. Time and blocks are seen on the chain, no matter what moves them. */
  control(): RequestHandler {
    return (request, response, next) => {
      const { method, path } = request;
      if (this.#recording === null || method === "GET" || method === "HEAD") next();
      else
        void this.#record(
          path === "/clock" || path === "/blocks" ? null : "control",
          request,
          response,
          next,
        );
    };
  }

  async #record(
    kind: "api" | "control" | null,
    request: IncomingMessage,
    response: Parameters<RequestListener>[1],
    go: () => void,
  ): Promise<void> {
    // Before anything is waited for: what has come from the connection by then would be missed.
    const requestBody = collectBody(request);
    const leave = await this.#turns.acquire();
    const recording = this.#recording;
    if (recording === null || response.closed) {
      leave();
      if (!response.closed) go();
      return;
    }
    await this.#recordBlocks(recording, false);
    watchAnswer(response, async (exchange) => {
      try {
        if (exchange === null) recording.unrepeatable ??= "A client broke off its request.";
        const before = recording.head;
        if (kind !== null) await this.#recordBlocks(recording, true);
        if (exchange === null || kind === null) return;
        const { seed, accounts } = this.#sources.description;
        const own = ownAccounts(seed, accounts);
        const { credentials, head, steps } = recording;
        const body = requestBody();
        const reason = findUnrepeatable(request, {
          body,
          status: exchange === lostAnswer ? null : exchange.status,
        });
        if (reason !== null)
          recording.unrepeatable ??= `Step ${steps.length + 1}, ${request.method} ${redact(request.url ?? "")}, cannot be repeated: ${reason}.`;
        const step = describeRequest(
          kind,
          request,
          { exchange, requestBody: body.toString() },
          { accounts: [...accounts, ...own], credentials },
        );
        steps.push(head.hash === before.hash ? step : { ...step, block: blockName(head) });
      } finally {
        leave();
      }
    });
    go();
  }

  /** Lets the relayer see the newest block, and writes down what the chain tells. */
  async #recordBlocks(recording: Recording, caused: boolean): Promise<void> {
    await this.#sources.gate.runShared("the recorder", async () => await this.#read(recording, caused));
  }

  async #read(recording: Recording, caused: boolean): Promise<void> {
    const { chain, relayer, description } = this.#sources;
    try {
      await catchUp(relayer, chain.client);
      const read = await readSteps(chain, description.wallets, recording.head, caused);
      // A reorg that a fault made is repeated by the fault.
      if (read === null && !caused) recording.unrepeatable ??= blocksLeft;
      recording.steps.push(...(read?.steps ?? []));
      recording.head = read?.head ?? (await readNewestBlock(chain.client));
    } catch (error) {
      recording.unrepeatable ??= `The chain could not be read: ${String(error)}`;
    }
  }
}

const blocksLeft = "Blocks left the chain by a reorg or a restore, which a scenario does not repeat.";

/** Deliveries are the service's own doing, and pages are looked at only. */
function isStep({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split("?");
  if (path === receiveNotification.path || (method !== "GET" && method !== "POST")) return false;
  const isPage = path.endsWith(".json") || (headers.accept ?? "").includes("text/html");
  return !isPage && (path.startsWith("/v1/routing/") || path.startsWith("/wallet/"));
}

function refusal(message: string): SandboxError {
  return new SandboxError("scenario_refused", message);
}

/** Methods that a step may have. */
const methods = ["GET", "POST", "DELETE"];

/** The headers that a step records of a request, each once. */
const keptHeaders = ["authorization", "content-type", "idempotency-key"];

/**
 * Finds what a request has that a step cannot say, so that it would be played otherwise.
 *
 * @param seen - the bytes of the body that came before the answer, and the answer's status, null if it was lost.
 * @returns the reason as the end of a sentence; null when the request can be repeated.
 * @example findUnrepeatable(request, { body, status: 400 }) // "its body is not UTF-8"
 */
function findUnrepeatable(
  request: IncomingMessage,
  seen: { body: Buffer; status: number | null },
): string | null {
  return inLine(request) ?? inHeaders(request) ?? inBody(request, seen) ?? inSecret(request, seen.body);
}

/** A step has the ids of credentials and accounts, and no secrets. */
function inSecret({ url = "", headers }: IncomingMessage, body: Buffer): string | null {
  const key = String(headers["idempotency-key"] ?? "");
  if ([url, key, body.toString()].every((text) => redact(text) === text)) return null;
  return "it has a credential or an account key outside of its Authorization header";
}

function inLine({ method = "", url = "" }: IncomingMessage): string | null {
  if (!methods.includes(method)) return `only ${methods.join(", ")} can be`;
  return /^\/\S*$/.test(url) ? null : "its target is not a path";
}

function inHeaders({ headers, headersDistinct }: IncomingMessage): string | null {
  const { authorization, "content-encoding": encoding = "identity" } = headers;
  const twice = keptHeaders.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return `its header ${twice} was sent more than once`;
  if (authorization !== undefined && readBearer(authorization) === null)
    return "its header authorization is not `Bearer <credential>`";
  if (encoding.toLowerCase() !== "identity") return `its body is encoded (content-encoding: ${encoding})`;
  return null;
}

function inBody(
  { method, headers }: IncomingMessage,
  { body, status }: { body: Buffer; status: number | null },
): string | null {
  const declared = Number(headers["content-length"] ?? body.length);
  // Where no length is declared, an answer of 413 tells how much had come by then.
  if (declared !== body.length || (status === 413 && headers["content-length"] === undefined))
    return `only the first ${body.length} bytes of its body were kept`;
  if (method === "GET" && declared > 0) return "it is a GET with a body";
  return isUtf8(body) ? null : "its body is not UTF-8";
}
