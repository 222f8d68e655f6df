import { answerRecorded, recorded } from "./data/recorded.ts";

/**
 * A refusal of the control API, in its own words.
 *
 * Not a CodedError: a page may import only types.
 */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/**
 * The sandbox could not be reached.
 *
 * Not a CodedError: a page may import only types.
 */
export class Unreachable extends Error {}

/**
 * Asks the control API, which this page came from, or the trace that this page is.
 *
 * @throws Refused with the API's sentence; Unreachable when nothing answers.
 */
export async function requestControl<T>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: object,
): Promise<T> {
  // The answer is of the type that the control API gives.
  if (recorded !== null) return answerRecorded(recorded, method, path) as T;
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  }).catch(() => {
    throw new Unreachable("The sandbox does not respond.");
  });
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw new Refused(response.status, answer?.detail ?? `The sandbox responded with ${response.status}.`);
}

/** Reads one of the explorer's resources. */
export function readExplorer<T>(
  path: string,
  query: { [name: string]: string | null | undefined } = {},
): Promise<T> {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const search = new URLSearchParams(given).toString();
  return requestControl("GET", `/explorer${path}${search && `?${search}`}`);
}
