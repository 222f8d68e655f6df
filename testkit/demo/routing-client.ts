import type { z } from "zod";
import { problemSchema } from "../../server/schemas/problem.ts";

/** One answer of the routing API. */
export interface RoutingAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** The API refused; the problem says why and what to do. */
export class RoutingError extends Error {
  override readonly name = "RoutingError";
  readonly status: number;
  readonly problem: z.infer<typeof problemSchema>;

  constructor(answer: RoutingAnswer) {
    const problem = problemSchema.parse(answer.body);
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.status = answer.status;
    this.problem = problem;
  }
}

/** What a request carries beside its path. */
export interface RoutingRequest {
  /** Account key or credential. */
  bearer?: string;
  idempotencyKey?: string;
  body?: unknown;
}

/** Sends requests to one routing API. */
export class RoutingClient {
  readonly baseUrl: string;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Sends a request and answers whatever comes back, refusals too. */
  async send(method: "GET" | "POST", path: string, request: RoutingRequest = {}): Promise<RoutingAnswer> {
    const headers = new Headers();
    if (request.bearer !== undefined) headers.set("Authorization", `Bearer ${request.bearer}`);
    if (request.idempotencyKey !== undefined) headers.set("Idempotency-Key", request.idempotencyKey);
    if (request.body !== undefined) headers.set("Content-Type", "application/json");
    const response = await fetch(new URL(path, this.baseUrl), {
      method,
      headers,
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /**
   * Sends a request and parses its answer.
   *
   * @throws RoutingError when the API refuses.
   */
  async call<T extends z.ZodType>(
    schema: T,
    method: "GET" | "POST",
    path: string,
    request: RoutingRequest = {},
  ): Promise<z.output<T>> {
    const answer = await this.send(method, path, request);
    if (answer.status >= 400) throw new RoutingError(answer);
    return schema.parse(answer.body);
  }
}
