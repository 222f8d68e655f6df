import { base64urlnopad } from "@scure/base";
import type { Json } from "../../protocol/values/json.ts";
import { toChainSeconds } from "../../protocol/values/time.ts";
import { domainOf } from "../binding/commitment-of.ts";
import type { ChainProgram } from "../chain/chain-reader.ts";
import type { ProgramDeployment } from "../chain/deployment.ts";
import type { Services } from "../http/services.ts";
import type { PublicKey } from "../keys/key-ring.ts";
import { limits } from "../limits.ts";

/** Returns the view of the chain that the service is bound to. */
export function viewChain({ deployment, settings }: Services) {
  const { network, urls } = settings;
  return {
    chain_id: deployment.chainId,
    epoch: deployment.epoch,
    rpc_url: urls.rpc,
    ...(network !== null && {
      network: {
        name: network.name,
        block_explorer_url: network.blockExplorerUrl,
        native_currency: network.currency,
      },
    }),
  } satisfies Json;
}

/** The contracts that the service is bound to, with the code that was pinned. */
export function viewContracts({ deployment }: Services) {
  const { token, registrar, fundingSource } = deployment;
  return {
    token: {
      address: token.address,
      symbol: token.symbol,
      decimals: token.decimals,
      code_hash: token.codeHash,
    },
    registrar: {
      address: registrar.address,
      code_hash: registrar.codeHash,
      eip712_domain: { ...domainOf(deployment) },
    },
    funding_source: { address: fundingSource.address, code_hash: fundingSource.codeHash },
  } satisfies Json;
}

/** A public Ed25519 key: its RFC 7638 thumbprint and its 32 bytes in base64url. */
export function viewPublicKey({ keyId, publicKey }: PublicKey) {
  return { key_id: keyId, public_key: base64urlnopad.encode(publicKey) } satisfies Json;
}

/**
 * A program with everything public that it is bound to.
 *
 * @param onChain - the program as the chain has it now: its admin can exchange operator, commitment signer and bounds.
 * @param keys - the public keys that notifications and decisions are signed with now.
 */
export function viewProgram(
  program: ProgramDeployment,
  onChain: ChainProgram,
  keys: { reviewer: PublicKey; notifications: PublicKey },
  services: Services,
) {
  const { operator, commitmentSigner, maxPurchase, openBudget, validUntil } = onChain;
  return {
    id: program.id,
    name: program.name,
    chain: viewChain(services),
    contracts: viewContracts(services),
    keys: {
      commitment_signer: commitmentSigner,
      registrar: {
        address: operator,
        bounds: {
          max_purchase: maxPurchase.toString(),
          open_budget: openBudget.toString(),
          valid_until: toChainSeconds(validUntil),
        },
      },
      reviewer: viewPublicKey(keys.reviewer),
      notifications: viewPublicKey(keys.notifications),
    },
    limits: { ...limits },
    receiver: { url: services.settings.receiverUrl },
  } satisfies Json;
}
