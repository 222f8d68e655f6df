import { authorizationName, type Operation } from "../http/operation.ts";

/** An operation as lists of them name it. */
export function viewOperation(operation: Operation) {
  const { number, id, method, path } = operation;
  return { number, id, method: method.toUpperCase(), path, authorization: authorizationName(operation) };
}
