import type { Hex } from "viem";
import type { z } from "zod";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Operation } from "../../server/http/operation.ts";
import type { RequestExample } from "../../server/openapi/examples/request-example.ts";
import { operations } from "../../server/operations.ts";
import { accessSchema } from "../../server/schemas/access.ts";
import type { purchaseSchema } from "../../server/schemas/purchases.ts";

/** The evidence that a wallet submits. */
export interface Evidence {
  transaction_hash?: Hex;
  signature?: Hex;
}

/** One request of the lifecycle: what wallets do before it, and how its example is made. */
export interface ExampleStep {
  /** The operation's id. */
  operation: string;
  /** The wallets' actions before it; they are done when the examples are recorded, and again when they are tried. */
  before?: (run: ExampleRun) => Promise<void>;
  /** The example, from what was answered before. */
  request: (run: ExampleRun) => RequestExample | Promise<RequestExample>;
}

/** A request as it is sent: one body of an example. */
export interface ExampleRequest extends Omit<RequestExample, "bodies"> {
  body?: unknown;
}

/** A run of the example lifecycle on a sandbox: what was answered, and what the wallets did. */
export class ExampleRun {
  readonly sandbox: Sandbox;
  evidence: Evidence = {};
  payment: Hex | null = null;
  direct: z.output<typeof purchaseSchema> | null = null;
  claim: (Evidence & { requested_amount: string; reason: string }) | null = null;
  readonly #answers = new Map<string, unknown>();

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  /** Returns the answer of an operation. */
  answer<T extends z.ZodType>(operation: string, schema: T): z.output<T> {
    return schema.parse(this.#answers.get(operation));
  }

  /**
   * Does every step: its wallets first, then its request. Each body of a request is sent from the same state; the run continues from
   * the first one, which is sent last.
   *
   * @param exampleOf - the example of a step; from its answers by default.
   * @returns the examples, by operation.
   */
  async all(
    steps: readonly ExampleStep[],
    exampleOf: (step: ExampleStep) => RequestExample | Promise<RequestExample> = (step) => step.request(this),
  ): Promise<{ [operation: string]: RequestExample }> {
    const examples: { [operation: string]: RequestExample } = {};
    for (const step of steps) {
      await step.before?.(this);
      const example = await exampleOf(step);
      examples[step.operation] = example;
      const { bodies = {}, ...request } = example;
      const [first, ...others] = Object.values(bodies).map(({ value }) => value);
      const snapshot = others.length > 0 ? await this.sandbox.snapshot() : null;
      for (const body of others) {
        await this.send(step.operation, { ...request, body });
        await snapshot?.restore();
      }
      this.#answers.set(step.operation, await this.send(step.operation, { ...request, body: first }));
    }
    return examples;
  }

  /** Sends a request to an operation, with the credential that was issued; throws unless it succeeds. */
  async send(id: string, { path = {}, query = {}, header = {}, body }: ExampleRequest): Promise<unknown> {
    const operation = operations.find((one) => one.id === id);
    if (operation === undefined) throw new Error(`There is no operation ${id}.`);
    const params: { [name: string]: string } = { program: "prg_demo", ...path };
    const concrete = operation.path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => params[name] ?? "");
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${this.sandbox.description.urls.api}${concrete}${search && `?${search}`}`, {
      method: operation.method.toUpperCase(),
      headers: {
        ...header,
        ...this.#authorization(operation),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The example of ${id} gets ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  #authorization({ authorization }: Operation): { [name: string]: string } {
    if (authorization.kind === "account")
      return { Authorization: `Bearer ${this.sandbox.description.accounts[0]?.key}` };
    if (authorization.kind !== "scope") return {};
    return { Authorization: `Bearer ${this.answer("issueAccess", accessSchema).credential}` };
  }
}
