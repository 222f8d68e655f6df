import { BaseError, decodeErrorResult, type Hex, isHex } from "viem";
import { SandboxError } from "../../../lib/errors/sandbox-error.ts";
import { shortenArgument } from "../../../lib/errors/shorten-argument.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { Registrar } from "../../registrar/registrar.ts";
import type { Accounts } from "../deployment-record.ts";
import { DeploymentRevertedError } from "./deploy-contracts.ts";

/**
 * Explains why a transaction of a deployment has reverted, by the errors of the registrar contract.
 *
 * @throws SandboxError registrar_unusable for a reverted transaction; any other error as it is.
 */
export async function explainReverted(
  client: ChainClient,
  { wallets }: Accounts,
  { name, abi }: Registrar,
  error: unknown,
): Promise<never> {
  if (!(error instanceof DeploymentRevertedError)) throw error;
  const { what, data, to } = error;
  const call = { account: wallets.deployer.address, data, ...(to === null ? {} : { to }) };
  const reason = await client.call(call).then(
    () => "it ran out of gas",
    (cause: unknown) => describeCause(abi, cause),
  );
  throw new SandboxError(
    "registrar_unusable",
    `${what} reverted: ${reason}. Correct ${name}, and compile again.`,
    {
      cause: error,
    },
  );
}

/** Returns the error of the contract with its arguments, or the node's message. */
function describeCause(abi: Registrar["abi"], cause: unknown): string {
  const data = cause instanceof BaseError ? dataOf(cause) : undefined;
  const message = cause instanceof BaseError ? cause.details || cause.shortMessage : String(cause);
  if (data === undefined || data === "0x") return message.replace(/\.$/, "");
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi, data });
    return `${errorName}(${args.map(shortenArgument).join(", ")})`;
  } catch {
    return `an unknown error with the data ${shortenArgument(data)}`;
  }
}

function dataOf(error: BaseError): Hex | undefined {
  const found = error.walk(
    (cause) => typeof cause === "object" && cause !== null && "data" in cause && isHex(cause.data),
  );
  return found !== null && "data" in found && isHex(found.data) ? found.data : undefined;
}
