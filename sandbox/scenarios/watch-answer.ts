import type { ServerResponse } from "node:http";
import { types } from "node:util";

/** A request and its answer, once it is about to be sent. */
export interface Exchange {
  status: number;
  answer: string;
}

/** An answer that the service itself has dropped, because of a fault. */
export const lostAnswer = "lost";

/**
 * Waits for an answer, and holds it until what is done about it has ended, so that nothing that the client does next
 * comes in between.
 *
 * @param about - called with null when the client broke off before there was an answer.
 */
export function watchAnswer(
  response: ServerResponse,
  about: (exchange: Exchange | typeof lostAnswer | null) => Promise<void>,
): void {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown) => {
    if (typeof chunk === "string" || types.isUint8Array(chunk)) chunks.push(Buffer.from(chunk));
  };
  const { write, end, destroy } = response;
  let ended = false;
  const hooks = {
    write(...args: unknown[]) {
      keep(args[0]);
      return Reflect.apply(write, response, args);
    },
    end(...args: unknown[]) {
      if (ended) return response;
      ended = true;
      keep(args[0]);
      const answer = Buffer.concat(chunks).toString();
      about({ status: response.statusCode, answer }).finally(() => Reflect.apply(end, response, args));
      return response;
    },
    destroy(...args: unknown[]) {
      if (ended) return Reflect.apply(destroy, response, args);
      ended = true;
      about(lostAnswer).finally(() => Reflect.apply(destroy, response, args));
      return response;
    },
  };
  Object.assign(response, hooks);
  response.once("close", () => {
    if (!ended) about(null);
    ended = true;
  });
}
