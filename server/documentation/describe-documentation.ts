import { edgeCodes } from "../http/codes-of-operation.ts";
import { documentationVersion } from "../schemas/versions.ts";
import { documentationResources } from "./resources/resources.ts";

/** The error codes of this host; a later version may add some. */
const hostCodes = ["method_not_allowed", "route_not_found", "internal_error", ...edgeCodes];

/**
 * Describes the documentation host: its read-only resources, as an OpenAPI 3.1 document.
 *
 * @example describeDocumentation("http://127.0.0.1:4021")
 */
export function describeDocumentation(docsUrl: string) {
  return {
    openapi: "3.1.0",
    info: {
      title: "Routing sandbox documentation",
      version: documentationVersion,
      description:
        "Read-only resources about the routing sandbox. They need no credential, and no request changes anything.",
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "Routing sandbox documentation", url: `${docsUrl}/portal/docs.md` },
    },
    servers: [{ url: docsUrl, description: "This documentation host." }],
    tags: [{ name: "Documentation", description: "Documents for integrators." }],
    security: [],
    paths: Object.fromEntries(
      documentationResources.map((resource) => [resource.path, { get: describeResource(resource) }]),
    ),
    components: { schemas: { Problem: problem } },
  };
}

function describeResource({ id, contentType, description }: (typeof documentationResources)[number]) {
  return {
    operationId: id,
    summary: description,
    description,
    tags: ["Documentation"],
    security: [],
    responses: {
      "200": {
        description,
        content: {
          [mediaType(contentType)]: {
            schema: { type: contentType.startsWith("text/") ? "string" : "object" },
          },
        },
      },
      "405": {
        description: "The host is read-only.",
        headers: { Allow: { required: true, description: "GET, HEAD", schema: { type: "string" } } },
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

const problem = {
  type: "object",
  description: "An error response (RFC 9457).",
  required: ["type", "title", "status", "code", "detail", "instance", "request_id", "retryable"],
  properties: {
    type: { type: "string", format: "uri", description: "The page of this error code." },
    title: { type: "string" },
    status: { type: "integer" },
    code: { anyOf: [{ type: "string", enum: hostCodes }, { type: "string" }] },
    detail: { type: "string" },
    instance: { type: "string" },
    request_id: { type: "string" },
    retryable: { type: "boolean" },
  },
};

/** A content type without its parameters. */
export function mediaType(contentType: string): string {
  return contentType.split(";")[0] ?? contentType;
}
