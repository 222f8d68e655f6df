import type { z } from "zod";
import type { Json } from "../../protocol/json.ts";
import type { SentTransaction } from "../../sandbox/service/wallets/test-wallet.ts";
import type { Wallet } from "../../sandbox/service/wallets/wallet.ts";
import { accessSchema } from "../../server/schemas/access.ts";
import type { Actors } from "./actors.ts";
import type { Narrator } from "./narrator.ts";
import { type RoutingAnswer, RoutingError } from "./routing-client.ts";

/** One API operation of the demo. */
export interface Step<T extends z.ZodType> {
  title: string;
  method: "GET" | "POST";
  /** Below the program's path. */
  path: string;
  body?: Json;
  /** Names the intent; with the credential's id it makes the idempotency key. */
  intent?: string;
  answer: T;
  /** What is reported of the answer. */
  tell: (answer: z.output<T>) => string;
}

/** A credential in use: calls operations, lets wallets send, and reports each step. */
export class Session {
  readonly actors: Actors;
  readonly narrator: Narrator;
  readonly #credential: z.infer<typeof accessSchema>;

  private constructor(actors: Actors, narrator: Narrator, credential: z.infer<typeof accessSchema>) {
    this.actors = actors;
    this.narrator = narrator;
    this.#credential = credential;
  }

  /** Issues access with every scope; an earlier credential is revoked. */
  static async open(actors: Actors, narrator: Narrator): Promise<Session> {
    const path = "/v1/routing/access";
    const credential = await actors.api.call(accessSchema, "POST", path, {
      bearer: actors.accountKey,
      body: {},
    });
    narrator.step(
      "Access: the account issues its seven-day credential",
      `POST ${path} {}`,
      `201 ${credential.credential_id} with ${credential.scopes.length} scopes until ${credential.expires_at}`,
    );
    return new Session(actors, narrator, credential);
  }

  /** The value of the credential. */
  get credential(): string {
    return this.#credential.credential;
  }

  /** The path of a resource of the program. */
  path(below: string): string {
    return `/v1/routing/programs/${this.actors.program}${below}`;
  }

  /** The idempotency key of an intent under this credential. */
  key(intent: string): string {
    return `${this.#credential.credential_id}-${intent}`;
  }

  /**
   * Runs one operation and reports it.
   *
   * @throws RoutingError when the API refuses.
   */
  async call<T extends z.ZodType>(step: Step<T>): Promise<z.output<T>> {
    const answer = await this.attempt(step);
    if (answer.status >= 400) throw new RoutingError(answer);
    const body = step.answer.parse(answer.body);
    this.#tell(step, `${answer.status} ${step.tell(body)}`);
    return body;
  }

  /** Runs one operation that is expected to be refused, and reports the refusal. */
  async refused(step: Omit<Step<z.ZodUnknown>, "answer" | "tell">): Promise<RoutingError> {
    const answer = await this.attempt(step);
    if (answer.status < 400) throw new Error(`${step.title}: expected a refusal, got ${answer.status}.`);
    const error = new RoutingError(answer);
    const checks = error.problem.binding?.checks ?? [];
    const listed = checks.map(({ name, ok }) => `${ok ? "✓" : "✗"} ${name}`).join("  ");
    this.#tell(step, `${error.message}${listed && `\n           ${listed}`}`);
    return error;
  }

  /**
   * Tells what a wallet sent.
   *
   * @throws Error when the transaction reverted.
   */
  sent<T extends SentTransaction>(title: string, wallet: Wallet, sent: T): T {
    const { call, receipt } = sent;
    const { status, blockNumber, transactionHash } = receipt;
    this.narrator.step(
      title,
      `${wallet.address} → ${call.to} ${call.function}(${shorten(JSON.stringify(call.args), 100)})`,
      `${status} in block ${blockNumber}: ${transactionHash}`,
    );
    if (status !== "success") throw new Error(`${title}: the transaction reverted.`);
    return sent;
  }

  async attempt(step: Pick<Step<z.ZodType>, "method" | "path" | "body" | "intent">): Promise<RoutingAnswer> {
    const { method, path, body, intent } = step;
    return await this.actors.api.send(method, this.path(path), {
      bearer: this.credential,
      ...(intent === undefined ? {} : { idempotencyKey: this.key(intent) }),
      ...(body === undefined ? {} : { body }),
    });
  }

  #tell(step: Pick<Step<z.ZodType>, "title" | "method" | "path" | "body">, back: string): void {
    const body = step.body === undefined ? "" : ` ${shorten(JSON.stringify(step.body), 140)}`;
    this.narrator.step(step.title, `${step.method} ${this.path(step.path)}${body}`, back);
  }
}

/** The JSON of a request or a call, cut to what a terminal line bears. */
function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
