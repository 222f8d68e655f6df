import type { KeptRequest } from "../../sandbox/activity/request-log.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { ApiFaultPoint } from "../../server/http/faults/api-fault.ts";
import { operations } from "../../server/operations.ts";

/** The operation of deliveries to the test receiver, which the sandbox sends itself. */
const receiverOperation = "receiveNotification";

/** A request of the client to an operation of the API. */
export interface ClientRequest extends KeptRequest {
  operation: string;
  /** The number of this request among all with the same operation that reach a point, those of the sandbox included. */
  occurrences: { [point in ApiFaultPoint]: number };
}

/** Returns the requests that the client has sent since the last restore, in the order in which they began. */
export async function readClientRequests({ requestLog, store }: Sandbox): Promise<ClientRequest[]> {
  const credentials = await store.list("credentials", {});
  // Given states and automatic deliveries have accounts whose names no option can take.
  const own = new Set(credentials.filter(({ value }) => isOwnAccount(value.account)).map(({ key }) => key));
  const all = requestLog.newest();
  return all
    .flatMap(({ operation, ...request }) =>
      operation === null
        ? []
        : [{ ...request, operation, occurrences: occurrencesOf({ ...request, operation }, all) }],
    )
    .filter(
      ({ operation, caller }) => operation !== receiverOperation && !own.has(caller) && !isOwnAccount(caller),
    )
    .toSorted((left, right) => left.startedAt - right.startedAt);
}

function occurrencesOf(request: KeptRequest, all: readonly KeptRequest[]): ClientRequest["occurrences"] {
  const before = all.filter(
    ({ operation, number }) => operation === request.operation && number < request.number,
  );
  return {
    before_commit: 1 + before.filter(({ replayed }) => !replayed).length,
    after_commit: 1 + before.filter(({ status }) => status !== null && status < 300).length,
  };
}

/** Whether the account is the sandbox's own, for given states. */
export function isOwnAccount(account: string): boolean {
  return account.startsWith("given/");
}

const idempotent = new Set(operations.filter((operation) => operation.idempotent).map(({ id }) => id));

/** Whether the operation takes an idempotency key. */
export function takesKey({ operation }: ClientRequest): boolean {
  return idempotent.has(operation);
}

/** Whether a request is a write of the API. */
export function isWrite({ method }: ClientRequest): boolean {
  return method === "POST";
}

/** Whether a write was done by this request, and not by an earlier one with the same key. */
export function hasSucceeded({ status, replayed }: ClientRequest): boolean {
  return status !== null && status < 300 && !replayed;
}

/** Returns the id of the record that a write is about: the one in its path, or the one that it has created. */
export function subjectOf({ path, answer }: ClientRequest): string | null {
  const [inPath] = /\b(?:mer|pur)_[a-z2-7]{20}\b/.exec(path) ?? [];
  const [, created] = /"id":"([a-z]+_[a-z2-7]{20})"/.exec(answer ?? "") ?? [];
  return inPath ?? created ?? null;
}

/** Returns a write in words: the operation and its subject. */
export function nameWrite({ operation, subject }: { operation: string; subject: string | null }): string {
  return subject === null ? operation : `${operation} of ${subject}`;
}
