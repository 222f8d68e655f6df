import type { OutgoingHttpHeaders, RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { DirectAgent, requestDirect } from "../../../sandbox/lib/http/direct/connect-direct.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import { readIssued } from "../../../sandbox/scenarios/describe-request.ts";
import type { ExpectingStep, RequestStep } from "../../../sandbox/scenarios/scenario.ts";
import { ownAccounts } from "../../../sandbox/service/keys.ts";

/** A request of a scenario, without what it must be answered. */
export type RequestOfStep = Omit<Extract<RequestStep | ExpectingStep, { api: string }>, "answer" | "expect">;

/** The answer to a request of a scenario. */
export interface StepAnswer {
  status: number;
  text: string;
}

/**
 * Thrown when a request names a caller that no account and no issued credential has.
 *
 * Not a CodedError: `playScenario` reports it as a ScenarioDifferenceError.
 */
export class UnknownCallerError extends Error {
  override readonly name = "UnknownCallerError";
}

/** Sends the requests of scenarios to a sandbox, with the secrets of the callers that they name. */
export class RequestSender {
  readonly #urls: SandboxDescription["urls"];
  /** Secrets by the id of their account or credential. */
  readonly #secrets: Map<string, string>;

  constructor({ seed, accounts, urls }: SandboxDescription) {
    this.#urls = urls;
    const own = ownAccounts(seed, accounts);
    this.#secrets = new Map([...accounts, ...own].map(({ id, key }) => [id, key]));
  }

  /**
   * Sends a request and returns its answer; null when the connection drops before the whole answer is there. A credential that the answer issues can be named from then on.
   *
   * @throws UnknownCallerError
   */
  async send(
    request: Omit<RequestOfStep, "api"> & ({ api: string } | { control: string }),
  ): Promise<StepAnswer | null> {
    const [line, base] =
      "api" in request ? [request.api, this.#urls.api] : [request.control, this.#urls.control];
    const [method = "", path = ""] = line.split(" ");
    const headers: OutgoingHttpHeaders = {};
    const bearer = request.as === undefined ? request.bearer : this.#secrets.get(request.as);
    if (request.as !== undefined && bearer === undefined)
      throw new UnknownCallerError(`There is no account or credential ${request.as}.`);
    if (bearer !== undefined) headers["Authorization"] = `Bearer ${bearer}`;
    if (request.idempotency_key !== undefined) headers["Idempotency-Key"] = request.idempotency_key;
    const body = request.body === undefined ? request.raw_body : JSON.stringify(request.body);
    const type = request.content_type ?? (request.body === undefined ? undefined : "application/json");
    if (type !== undefined) headers["Content-Type"] = type;
    const answer = await sendExactly(base, { method, path, headers }, body);
    const issued = answer && readIssued(answer.text);
    if (issued !== null) this.#secrets.set(issued.credential_id, issued.credential);
    return answer;
  }
}

/** Sends a path as it is written, which fetch would normalize; null when the connection drops before the whole answer is there. */
async function sendExactly(base: string, options: RequestOptions, body = ""): Promise<StepAnswer | null> {
  const { promise, resolve } = Promise.withResolvers<StepAnswer | null>();
  const request = requestDirect(base, { ...options, agent: new DirectAgent() }, (response) => {
    const lost = () => resolve(null);
    text(response).then((answer) => resolve({ status: response.statusCode ?? 0, text: answer }), lost);
  });
  request.once("error", () => resolve(null));
  // As bytes: together with a text, Node would send the path as UTF-8, too.
  request.end(Buffer.from(body));
  return await promise;
}
