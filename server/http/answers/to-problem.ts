import { causesOf, isError } from "../../../protocol/coded-error.ts";
import { ChainMismatchError, ChainUnavailableError } from "../../chain/chain-reader.ts";
import { Problem } from "../../errors/problem.ts";
import { StoreConflictError, StoreUnavailableError } from "../../store/store.ts";

/** The refusal that an error is answered with; what is not known is an internal error that says nothing. */
export function toProblem(error: unknown): Problem {
  const headers = { "Retry-After": "1" };
  if (error instanceof Problem) return error;
  if (error instanceof ChainUnavailableError)
    return new Problem("rpc_unavailable", error.message, { headers, cause: error });
  if (error instanceof ChainMismatchError)
    return new Problem("chain_mismatch", error.message, { cause: error });
  if (error instanceof StoreUnavailableError)
    return new Problem("storage_unavailable", error.message, { headers, cause: error });
  if (error instanceof StoreConflictError)
    return new Problem(
      "storage_unavailable",
      "Other requests kept changing the same records, so nothing was written. Send the identical request again.",
      {
        headers,
        cause: error,
      },
    );
  if (isError(error) && error.name === "URIError")
    return new Problem("route_not_found", "The path is not valid percent-encoding.");
  return new Problem(
    "internal_error",
    "The service failed, and nothing was committed. Send the identical request again; if that fails too, read the output of the sandbox.",
    { cause: error },
  );
}

/** An error as a log may show it: what it is and what it says, with its causes, without stacks and without what it carries. */
export function describeError(error: unknown): { name: string; message: string }[] {
  const described = causesOf(error)
    .slice(0, 8)
    .map(({ name, message }) => ({ name, message: firstLine(message) }));
  return described.length > 0
    ? described
    : [{ name: typeof error, message: "Something that is no error was thrown." }];
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 300);
}
