import type { Operation } from "../../http/operation.ts";
import { limits } from "../../limits.ts";
import { viewOperation } from "../../relay/views.ts";
import { scopes } from "../../schemas/scopes.ts";
import { apiVersion, documentationVersion } from "../../schemas/versions.ts";
import { documentationResources } from "./resources.ts";

/** The preview capabilities: which parts are real, simulated or not supported. */
export function previewCapabilities(operations: readonly Operation[], urls: { api: string; docs: string }) {
  return {
    service: "routing-sandbox",
    preview: true,
    version: documentationVersion,
    api: { version: apiVersion, base_url: urls.api, openapi: `${urls.api}/v1/routing/openapi.json` },
    routes: ["registrar_offer", "merchant_direct"],
    real: [
      "contracts, transactions, transaction receipts, logs and reverts on a chain",
      "EIP-712, EIP-191, ERC-1271 and Ed25519 signatures and their verification",
      "the binding check of every transaction hash",
      "signed HTTP deliveries to the pinned receiver and their signed delivery receipts",
      "gas and the gas budget of the relayer",
    ],
    simulated: [
      "the stablecoin: test USDC without value",
      "the network: a local chain with its own clock, or a test network",
      "people: test wallets and a test reviewer whose keys are public",
    ],
    not_offered: [
      "live funds",
      "arbitrary callback destinations",
      "general-purpose signing",
      "any change by a read operation",
    ],
    operations: operations.map(viewOperation),
    scopes: [...scopes],
    limits: { ...limits },
    resources: documentationResources.map(({ path, description }) => ({
      url: `${urls.docs}${path}`,
      description,
    })),
  };
}
