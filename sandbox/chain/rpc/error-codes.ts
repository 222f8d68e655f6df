/** The error codes of JSON-RPC 2.0 and of EIP-1474 that are answered. */
export const rpcErrorCodes = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  methodNotSupported: -32_004,
  limitExceeded: -32_005,
} as const;
