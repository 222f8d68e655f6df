import { type ApiClient, createApiClient } from "../../sandbox/client/api-client.ts";
import { isProblem, ProblemError, unwrap } from "../../sandbox/client/problem-error.ts";
import type { SentCall } from "../../sandbox/wallets/test-wallet.ts";
import type { Wallet } from "../../sandbox/wallets/wallet.ts";
import type { Actors } from "./actors.ts";
import type { Printer } from "./printer.ts";

/** An answer of the client. */
interface ClientAnswer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** A credential in use: a client that sends it, and a report of what the API answers and wallets send. */
export class Session {
  readonly actors: Actors;
  readonly printer: Printer;
  readonly api: ApiClient;
  readonly credential: string;
  readonly #credentialId: string;
  readonly #requests: SentRequests;

  private constructor(session: {
    actors: Actors;
    access: { credential: string; credential_id: string };
    printer: Printer;
    requests: SentRequests;
  }) {
    const { actors, access, printer, requests } = session;
    this.actors = actors;
    this.api = requests.of(createApiClient(actors.apiUrl, access.credential));
    this.credential = access.credential;
    this.#credentialId = access.credential_id;
    this.printer = printer;
    this.#requests = requests;
  }

  /** Issues access with every scope; an earlier credential is revoked. */
  static async open(actors: Actors, printer: Printer): Promise<Session> {
    const requests = new SentRequests();
    const account = requests.of(createApiClient(actors.apiUrl, actors.accountKey));
    const answer = await account.POST("/v1/routing/access", { body: {} });
    const access = unwrap(answer);
    const session = new Session({ actors, access, printer, requests });
    session.report(
      "The account requests a credential",
      answer,
      ({ credential_id, scopes, expires_at }) =>
        `${credential_id} with ${scopes.length} scopes until ${expires_at}`,
    );
    return session;
  }

  /** Returns the idempotency key of an intent under this credential. */
  key(intent: string): string {
    return `${this.#credentialId}-${intent}`;
  }

  /** Returns the parameters of a write under the program, or of one of its objects. */
  write(intent: string, id = "") {
    return { path: { program: this.actors.program, id }, header: { "Idempotency-Key": this.key(intent) } };
  }

  /**
   * Reports an answer and returns its data.
   *
   * @throws ProblemError when the API refused.
   */
  report<T>(title: string, answer: ClientAnswer<T>, describe: (data: T) => string): T {
    const data = unwrap(answer);
    this.#print(title, answer, `${answer.response.status} ${describe(data)}`);
    return data;
  }

  /** Reports an answer that is expected to be a refusal, and returns it. */
  reportRefusal(title: string, answer: ClientAnswer<unknown>): ProblemError {
    if (!isProblem(answer.error))
      throw new Error(`${title}: expected a refusal, got ${answer.response.status}.`);
    const refusal = new ProblemError(answer.error);
    const { status, code, detail, checks } = refusal;
    const listed = checks.map(({ name, ok }) => `${ok ? "✓" : "✗"} ${name}`).join("  ");
    this.#print(title, answer, `${status} ${code}: ${detail}${listed && `\n           ${listed}`}`);
    return refusal;
  }

  /**
   * Reports what a wallet sent, and returns it.
   *
   * @throws Error when the transaction reverted.
   */
  sent<T extends SentCall>(title: string, wallet: Wallet, sent: T): T {
    const { call, receipt, revert } = sent;
    const { status, blockNumber, transactionHash } = receipt;
    this.printer.step(
      title,
      `${wallet.address} → ${call.to} ${call.function}(${cutText(JSON.stringify(call.args), 100)})`,
      `${status} in block ${blockNumber}: ${transactionHash}`,
    );
    if (status !== "success")
      throw new Error(`${title}: the transaction reverted${revert === null ? "" : ` with ${revert}`}.`);
    return sent;
  }

  #print(title: string, { response }: ClientAnswer<unknown>, back: string): void {
    this.printer.step(title, this.#requests.answeredBy(response), back);
  }
}

/** Keeps what clients sent, for the report of the answers. */
class SentRequests {
  readonly #ofRequests = new WeakMap<Request, string>();
  readonly #ofResponses = new WeakMap<Response, string>();

  /** Returns the client itself, whose requests are kept from here on. */
  of(client: ApiClient): ApiClient {
    client.use({
      // Before it is sent: sending uses the body up.
      onRequest: async ({ request }) => {
        const { pathname } = new URL(request.url);
        const body = await request.clone().text();
        const text = body === "" ? "" : ` ${cutText(body, 140)}`;
        this.#ofRequests.set(request, `${request.method} ${pathname}${text}`);
      },
      onResponse: ({ request, response }) => {
        this.#ofResponses.set(response, this.#ofRequests.get(request) ?? "");
      },
    });
    return client;
  }

  /** Returns method, path and body of the request that was answered. */
  answeredBy(response: Response): string {
    return this.#ofResponses.get(response) ?? "";
  }
}

/** Returns a text, cut to what fits into a terminal line. */
function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
