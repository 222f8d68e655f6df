import { CodedError } from "../protocol/coded-error.ts";
import { catchUp } from "../sandbox/chain/catch-up.ts";
import { createSandbox, type Sandbox } from "../sandbox/create-sandbox.ts";
import { answerFields } from "../sandbox/hosts/recorder/answer-fields.ts";
import { describeEnd } from "../sandbox/hosts/recorder/describe-end.ts";
import { readIssued } from "../sandbox/hosts/recorder/describe-request.ts";
import { readHead } from "../sandbox/hosts/recorder/read-steps.ts";
import {
  blockName,
  type RequestStep,
  type Scenario,
  type Step,
  type WalletStep,
} from "../sandbox/hosts/recorder/scenario.ts";
import { givenAccounts } from "../sandbox/service/keys/keys.ts";

/** Thrown when a played scenario differs from the recorded one. */
export class ScenarioDifferenceError extends CodedError<"scenario_differs"> {
  override readonly name = "ScenarioDifferenceError";
  /** The number of the first step that differs, from 1; null when only the end does. */
  readonly step: number | null;
  /** The first field that differs, as in `answer.body.status`. */
  readonly field: string;

  constructor(difference: {
    step: number | null;
    title: string;
    field: string;
    expected: unknown;
    actual: unknown;
  }) {
    const { step, title, field, expected, actual } = difference;
    const where = step === null ? "The end" : `Step ${step} (${title})`;
    super(
      "scenario_differs",
      `${where} differs in ${field}: expected ${show(expected)}, got ${show(actual)}.`,
    );
    this.step = step;
    this.field = field;
  }
}

/** Options of `playScenario`. */
export interface PlayOptions {
  /** Called with each step after it matched the recording. */
  told?: (number: number, step: Step) => void;
}

/**
 * Repeats a scenario on a temporary fresh sandbox, and compares every step and the final state.
 *
 * @throws ScenarioDifferenceError with the first step and field that differ.
 * @example await playScenario(await readScenario("scenarios/refund.yaml"))
 */
export async function playScenario(scenario: Scenario, { told }: PlayOptions = {}): Promise<void> {
  const { seed, programs, confirmations, gas_budget_wei } = scenario;
  await using sandbox = await createSandbox({
    seed,
    programs,
    confirmations,
    gasBudgetWei: BigInt(gas_budget_wei),
  });
  const player = new Player(sandbox);
  for (const [index, step] of scenario.steps.entries()) {
    const differs: Differs = (field, expected, actual) =>
      new ScenarioDifferenceError({ step: index + 1, title: step.title, field, expected, actual });
    await player.play(step, differs);
    told?.(index + 1, step);
  }
  const end = describeEnd(await sandbox.fingerprint());
  for (const [field, expected] of entriesOf(scenario.end)) {
    const actual = end[field];
    if (actual !== expected)
      throw new ScenarioDifferenceError({ step: null, title: "", field, expected, actual });
  }
}

type Differs = (field: string, expected: unknown, actual: unknown) => ScenarioDifferenceError;

class Player {
  readonly #sandbox: Sandbox;
  /** Secrets by the id of their account or credential. */
  readonly #secrets: Map<string, string>;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    const { seed, accounts } = sandbox.description;
    const given = givenAccounts(seed, accounts);
    this.#secrets = new Map([...accounts, ...given].map(({ id, key }) => [id, key]));
  }

  async play(step: Step, differs: Differs): Promise<void> {
    const { chain, clock, relayer } = this.#sandbox;
    if ("answer" in step) await this.#request(step, differs);
    else if ("transactions" in step) await this.#send(step, differs);
    else if ("travel" in step) await clock.travel(step.travel);
    else await chain.client.mine({ blocks: step.mine });
    await catchUp(relayer, chain.client);
    if (step.block === undefined) return;
    const block = blockName(await readHead(chain.client));
    if (block !== step.block) throw differs("block", step.block, block);
  }

  async #request(step: RequestStep, differs: Differs): Promise<void> {
    const { urls } = this.#sandbox.description;
    const [line, base] = "api" in step ? [step.api, urls.api] : [step.control, urls.control];
    const [method = "", path = ""] = line.split(" ");
    const headers = new Headers();
    const bearer = step.as === undefined ? step.bearer : this.#secrets.get(step.as);
    if (step.as !== undefined && bearer === undefined)
      throw differs("as", step.as, "no account with that name");
    if (bearer !== undefined) headers.set("Authorization", `Bearer ${bearer}`);
    if (step.idempotency_key !== undefined) headers.set("Idempotency-Key", step.idempotency_key);
    const body = step.body === undefined ? step.raw_body : JSON.stringify(step.body);
    const type = step.content_type ?? (step.body === undefined ? undefined : "application/json");
    if (type !== undefined) headers.set("Content-Type", type);
    // As bytes, to which fetch adds no content type of its own.
    const sent = body === undefined ? {} : { body: new TextEncoder().encode(body) };
    const { answer } = step;
    const response = await send(base + path, { method, headers, ...sent });
    if ("lost" in answer) {
      if (response !== null) throw differs("answer", "no answer", `${response.status} ${response.text}`);
      return;
    }
    if (response === null) throw differs("answer.status", answer.status, "a dropped connection");
    const { text } = response;
    const issued = readIssued(text);
    if (issued !== null) this.#secrets.set(issued.credential_id, issued.credential);
    const fields = answerFields(text);
    // The body says what went wrong, where there is a problem instead of an answer.
    if (response.status !== answer.status)
      throw differs("answer.status", answer.status, `${response.status} ${text}`);
    for (const name of new Set([...Object.keys(answer.body), ...Object.keys(fields)]))
      if (JSON.stringify(answer.body[name]) !== JSON.stringify(fields[name]))
        throw differs(`answer.body.${name}`, answer.body[name], shown(fields[name], name, text));
  }

  async #send({ transactions }: WalletStep, differs: Differs): Promise<void> {
    const { client } = this.#sandbox.chain;
    const automine = await client.getAutomine();
    // One block has them all.
    const together = transactions.length > 1 || !automine;
    if (together && automine) await client.setAutomine(false);
    for (const [index, { raw, hash }] of transactions.entries()) {
      if (!isBytes(raw)) throw differs(`transactions.${index}.raw`, raw, "no bytes");
      const sent = await client.sendRawTransaction({ serializedTransaction: raw });
      if (sent !== hash) throw differs(`transactions.${index}.hash`, hash, sent);
    }
    if (together) await client.mine({ blocks: 1 });
    if (together && automine) await client.setAutomine(true);
    for (const [index, { hash, status }] of transactions.entries()) {
      if (!isBytes(hash)) throw differs(`transactions.${index}.hash`, hash, "no hash");
      const receipt = await this.#sandbox.wallets.stranger.receipt(hash);
      if (receipt.status !== status) throw differs(`transactions.${index}.status`, status, receipt.status);
    }
  }
}

/** Sends a request; returns null when the connection drops before the whole answer is there. */
async function send(url: string, request: RequestInit): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(url, request);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    // fetch throws a TypeError for every lost connection.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function isBytes(text: string): text is `0x${string}` {
  return text.startsWith("0x");
}

/** A digest says little of what came instead. */
function shown(value: unknown, name: string, text: string): unknown {
  if (typeof value !== "string" || !value.startsWith("sha256:")) return value;
  const body: { [name: string]: unknown } = JSON.parse(text);
  return `${value} (${JSON.stringify(body[name])})`;
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
}

function entriesOf<T extends object>(value: T): [keyof T & string, T[keyof T]][] {
  return Object.entries(value) as [keyof T & string, T[keyof T]][];
}
