import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { readJson } from "../../../sandbox/lib/read-json.ts";
import { answerFields } from "../../../sandbox/scenarios/answer-fields.ts";
import { readNewestBlock } from "../../../sandbox/scenarios/read-steps.ts";
import {
  blockName,
  describeEnd,
  type ExpectingStep,
  type RequestStep,
  type Scenario,
  type Step,
  type WalletStep,
} from "../../../sandbox/scenarios/scenario.ts";
import { catchUp } from "../../../sandbox/service/catch-up.ts";
import type { CheckedState } from "../../explore/options.ts";
import type { ScenarioDifferenceError } from "../scenario-difference-error.ts";
import { findDifference } from "./find-difference.ts";
import { type RequestOfStep, RequestSender, type StepAnswer, UnknownCallerError } from "./send-request.ts";

/** Makes the error of a field that differs from the recording. */
export type Differs = (field: string, expected: unknown, actual: unknown) => ScenarioDifferenceError;

/** Repeats the steps of a scenario on a sandbox, and compares each with its recording. */
export class Player {
  readonly #sandbox: Sandbox;
  readonly #sender: RequestSender;
  /** The answers to the requests so far, by the number of their step. */
  readonly #answers = new Map<number, string>();
  /** The requests that read the purchases that were created. */
  readonly #created: RequestOfStep[] = [];

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#sender = new RequestSender(sandbox.description);
  }

  async play(number: number, step: Step, differs: Differs): Promise<void> {
    const { chain, clock, relayer } = this.#sandbox;
    if ("answer" in step || "expect" in step) await this.#request(number, step, differs);
    else if ("transactions" in step) await this.#send(step, differs);
    else if ("travel" in step) await clock.travel(step.travel);
    else await chain.client.mine({ blocks: step.mine });
    await catchUp(relayer, chain.client);
    if (!("block" in step) || step.block === undefined) return;
    const block = blockName(await readNewestBlock(chain.client));
    if (block !== step.block) throw differs("block", step.block, block);
  }

  /** Compares the final state with the recorded one. */
  async compareEnd(recorded: NonNullable<Scenario["end"]>, differs: Differs): Promise<void> {
    const end = describeEnd(await this.#sandbox.fingerprint());
    for (const [field, expected] of entriesOf(recorded))
      if (end[field] !== expected) throw differs(field, expected, end[field]);
  }

  /** Reads every purchase that was created. */
  async purchases(): Promise<CheckedState["purchases"]> {
    const views: CheckedState["purchases"] = [];
    for (const request of this.#created)
      views.push(JSON.parse((await this.#sender.send(request))?.text ?? "null"));
    return views;
  }

  async #request(number: number, step: RequestStep | ExpectingStep, differs: Differs): Promise<void> {
    const answer = await this.#sender.send(step).catch((error: unknown) => {
      throw error instanceof UnknownCallerError ? differs("as", step.as, "no account with that name") : error;
    });
    this.#answers.set(number, answer?.text ?? "");
    if (answer !== null) this.#noteCreated(step, answer.status, answer.text);
    if ("expect" in step) this.#expect(step, answer, differs);
    else compareRecorded(step, answer, differs);
  }

  #noteCreated(step: RequestStep | ExpectingStep, status: number, text: string): void {
    const line = "api" in step ? step.api : "";
    if (status !== 201 || !line.startsWith("POST ") || !line.endsWith("/purchases")) return;
    const { id }: { id: string } = JSON.parse(text);
    const { title, as } = step;
    const api = `GET ${line.slice("POST ".length)}/${id}`;
    this.#created.push({ title, api, ...(as === undefined ? {} : { as }) });
  }

  /** Compares only the fields that the answer must have. */
  #expect({ expect }: ExpectingStep, answer: StepAnswer | null, differs: Differs): void {
    if (answer === null && expect.lost === true) return;
    if (answer === null) throw differs("answer.status", expect.status.join(" or "), "a dropped connection");
    const { status, text } = answer;
    // The body says what went wrong, where there is a problem instead of an answer.
    if (!expect.status.includes(status))
      throw differs("answer.status", expect.status.join(" or "), `${status} ${text}`);
    if (expect.same_as !== undefined && this.#answers.get(expect.same_as) !== text)
      throw differs("answer.body", `the response of step ${expect.same_as}`, text);
    if (expect.body === undefined) return;
    const found = findDifference(expect.body, readJson(text), "answer.body");
    if (found !== null) throw differs(found.field, found.expected, found.actual);
  }

  async #send({ transactions, travel }: WalletStep, differs: Differs): Promise<void> {
    const { client, clock } = this.#sandbox.chain;
    const automine = await client.getAutomine();
    // One block has them all.
    const together = transactions.length > 1 || travel !== undefined || !automine;
    if (together && automine) await client.setAutomine(false);
    for (const [index, { raw, hash }] of transactions.entries()) {
      if (!isBytes(raw)) throw differs(`transactions.${index}.raw`, raw, "no bytes");
      const sent = await client.sendRawTransaction({ serializedTransaction: raw });
      if (sent !== hash) throw differs(`transactions.${index}.hash`, hash, sent);
    }
    if (travel !== undefined) await clock.travel(travel);
    else if (together) await client.mine({ blocks: 1 });
    if (together && automine) await client.setAutomine(true);
    for (const [index, { hash, status }] of transactions.entries()) {
      if (!isBytes(hash)) throw differs(`transactions.${index}.hash`, hash, "no hash");
      const receipt = await this.#sandbox.wallets.stranger.receipt(hash);
      if (receipt.status !== status) throw differs(`transactions.${index}.status`, status, receipt.status);
    }
  }
}

/** Compares the whole answer with the recorded one. */
function compareRecorded({ answer }: RequestStep, played: StepAnswer | null, differs: Differs): void {
  if ("lost" in answer) {
    if (played !== null) throw differs("answer", "no response", `${played.status} ${played.text}`);
    return;
  }
  if (played === null) throw differs("answer.status", answer.status, "a dropped connection");
  const { status, text } = played;
  const fields = answerFields(text);
  // The body says what went wrong, where there is a problem instead of an answer.
  if (status !== answer.status) throw differs("answer.status", answer.status, `${status} ${text}`);
  for (const name of new Set([...Object.keys(answer.body), ...Object.keys(fields)]))
    if (JSON.stringify(answer.body[name]) !== JSON.stringify(fields[name]))
      throw differs(`answer.body.${name}`, answer.body[name], shown(fields[name], name, text));
}

function isBytes(text: string): text is `0x${string}` {
  return text.startsWith("0x");
}

/** Returns a value to show in an error, because its digest alone would not help. */
function shown(value: unknown, name: string, text: string): unknown {
  if (typeof value !== "string" || !value.startsWith("sha256:")) return value;
  const body: { [name: string]: unknown } = JSON.parse(text);
  return `${value} (${JSON.stringify(body[name])})`;
}

function entriesOf<T extends object>(value: T): [keyof T & string, T[keyof T]][] {
  return Object.entries(value) as [keyof T & string, T[keyof T]][];
}
