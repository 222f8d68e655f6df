/**
 * An error that a wallet answers a page with. Its code is one of EIP-1193, EIP-1474 or EIP-3085: 4001 for a rejected request, 4100 for an
 * account that is not connected, 4900 and 4901 for a chain that is not, 4902 for an unknown chain.
 * Not a CodedError: a page expects the number of EIP-1193 in `code`.
 *
 * @example throw new ProviderError(4001, "The user rejected the request.")
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
