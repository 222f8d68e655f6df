import { z } from "zod";
import { Request, URL } from "../../protocol/globals.ts";
import { limitTexts } from "../../server/limits.ts";
import { jsonObjectSchema } from "../../server/schemas/primitives.ts";
import { ProblemError } from "../client/problem-error.ts";
import { controlOf } from "../lib/control/operation.ts";
import { withOwnGlobals } from "../lib/http/direct/with-own-globals.ts";
import type { ControlledSandbox } from "./controlled-sandbox.ts";

const defineControl = controlOf<ControlledSandbox>();

const requestBody = z
  .strictObject({
    method: z.enum(["GET", "POST"]),
    path: z
      .string()
      .regex(/^\/v1\/routing\/\S+$/, "must be a path of the routing API, such as /v1/routing/capabilities")
      .meta({ description: "The path of the API operation, with its query." }),
    idempotency_key: z
      .string()
      .regex(/^[\x21-\x7e]*$/, "must have visible ASCII characters only")
      .optional()
      .meta({
        description: `A key of your choice of ${limitTexts.idempotency_key_length} characters, which every POST needs. Send it again to repeat a request.`,
      }),
    body: jsonObjectSchema.optional().meta({ description: "The body of a POST; a GET is sent without it." }),
  })
  .meta({ id: "ApiRequest" });

const responseSchema = z
  .object({
    status: z.int().nullable().meta({
      description:
        "The status of the response; null if the connection was lost. Then send the identical request again, with the identical key.",
    }),
    request_id: z.string().nullable(),
    body: jsonObjectSchema.nullable().meta({ description: "The body of the response, if it is JSON." }),
  })
  .meta({ id: "ApiResponse" });

const sendRequest = defineControl({
  id: "sendRequest",
  method: "post",
  path: "/requests",
  tag: "Sandbox",
  summary: "Sends a request to the routing API, with a credential of the first program.",
  description:
    "It uses an account of its own, so your backend's credential stays valid. If the routing API refuses the request, the response is still 200, with the refusal's `status` and `body`.",
  page: { target: "api.md", words: "API behavior" },
  body: requestBody,
  example: { method: "GET", path: "/v1/routing/programs/prg_demo" },
  success: { status: 200, description: "The response of the routing API.", schema: responseSchema },
  // A recording notes the request that it sends.
  recorded: false,
  async handle({
    sandbox: { description, calls, sendAsClient },
    body: { method, path, idempotency_key, body },
  }) {
    const sent = method === "POST" ? body : undefined;
    const headers = {
      ...(sent && { "Content-Type": "application/json" }),
      ...(idempotency_key !== undefined && { "Idempotency-Key": idempotency_key }),
    };
    const content = sent && { body: JSON.stringify(sent) };
    const request = withOwnGlobals(
      () => new Request(new URL(path, description.urls.api), { method, headers, ...content }),
    );
    const response = await calls.run(
      async (ended) =>
        await sendAsClient(ended)(request).catch((error: unknown) => {
          ended.throwIfAborted();
          // The credential was refused, so the request was not sent.
          if (error instanceof ProblemError) throw error;
          return null;
        }),
    );
    const answer = jsonObjectSchema.safeParse(await response?.json().catch(() => null));
    return {
      status: response?.status ?? null,
      request_id: response?.headers.get("X-Request-Id") ?? null,
      body: answer.data ?? null,
    };
  },
});

/** The operations of the sandbox's own client. */
export const clientOperations = [sendRequest];
