import type { Step } from "../step.ts";
import type { Validated } from "./validate.ts";

const forwarded = ["authorization", "content-type", "idempotency-key", "traceparent", "tracestate"];

/** Has the process that leads answer a request whose effect only that one may begin. */
export const forwardToLeader: Step<Validated, Validated> = async (context, next) => {
  const { operation, request, services } = context;
  if (!operation.effect) return await next(context);
  const { method, originalUrl: path } = request;
  const headers = Object.fromEntries(forwarded.map((name) => [name, String(request.headers[name] ?? "")]));
  const handed = { method, path, headers, body: context.rawBody };
  const elsewhere = await context.releaseGate(async () => await services.forwardToLeader(handed));
  return elsewhere ?? (await next(context));
};
