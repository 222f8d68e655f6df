import { ed25519Jwk } from "../../protocol/signatures/ed25519.ts";
import type { Resource } from "../app.ts";
import type { Operation } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import { once } from "../lib/once.ts";
import { describeApi } from "../openapi/describe-api.ts";
import { referencePath } from "../pages/api-pages.ts";
import { viewOperation } from "../relay/views.ts";
import { exampleChainId, exampleRpcUrl } from "../schemas/primitives.ts";
import { apiVersion, documentationVersion } from "../schemas/versions.ts";
import { documentationResources } from "./resources/resources.ts";

const openapiPath = "/v1/routing/openapi.json";
const jwksPath = "/.well-known/jwks.json";
const indexPath = "/index.json";

/** Returns the resources that a client reads first: the index, the description and the public keys. */
export function discoveryResources(services: Services, operations: readonly Operation[]): Resource[] {
  const index = once(() => describeIndex(services, operations));
  return [
    { path: indexPath, read: index },
    { path: "/", read: index, page: ({ docs }) => `${docs}/` },
    // Most sandboxes of a test run are never asked for it.
    { path: openapiPath, read: once(() => describeOnChain(services, operations)) },
    { path: jwksPath, read: () => describeKeys(services) },
  ];
}

/** Returns the API's description with the chain id and the chain RPC of this service in its examples. */
function describeOnChain({ settings, deployment }: Services, operations: readonly Operation[]): unknown {
  const own = new Map<unknown, unknown>([
    [exampleChainId, deployment.chainId],
    [exampleRpcUrl, settings.urls.rpc],
  ]);
  return JSON.parse(JSON.stringify(describeApi(operations, settings.urls)), (_, value: unknown) =>
    own.has(value) ? own.get(value) : value,
  );
}

function describeIndex({ settings }: Services, operations: readonly Operation[]) {
  const { api, docs, control } = settings.urls;
  return {
    service: "routing-sandbox",
    hosts: {
      api: { url: api, version: apiVersion },
      documentation: { url: docs, version: documentationVersion },
    },
    resources: [
      { method: "GET", url: `${api}${indexPath}`, description: "This index." },
      { method: "GET", url: `${api}${openapiPath}`, description: "The API's description (OpenAPI 3.1)." },
      { method: "GET", url: `${api}${jwksPath}`, description: "The public Ed25519 keys (JWKS)." },
      { method: "GET", url: `${api}${referencePath}`, description: "The interactive reference (HTML)." },
      ...documentationResources.map(({ path, description, contentType }) => ({
        method: "GET",
        url: `${docs}${path}`,
        description,
        content_type: contentType,
      })),
      { method: "GET", url: `${docs}/errors`, description: "Every error code with its page." },
      {
        method: "GET",
        url: `${control}/`,
        description: "The explorer: a page that shows what the sandbox does.",
      },
    ],
    operations: operations.map((operation) => {
      const { path, authorization, ...named } = viewOperation(operation);
      return {
        ...named,
        url: `${api}${path}`,
        authorization,
        idempotency_key: operation.idempotent,
        description: operation.summary,
      };
    }),
  };
}

/**
 * All public Ed25519 keys, those before a rotation too, as a JWKS (RFC 7517); kid is the RFC 7638 thumbprint. `purpose` says what
 * a key may sign: a delivery receipt that a reviewer signed is none.
 */
async function describeKeys({ keyRing }: Services) {
  const published = await keyRing.published();
  return {
    keys: published.map(({ use: purpose, key }) => ({
      ...ed25519Jwk(key.publicKey),
      kid: key.keyId,
      use: "sig",
      alg: "EdDSA",
      purpose,
    })),
  };
}
