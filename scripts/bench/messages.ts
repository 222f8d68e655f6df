/** The messages to the node and the questions in them, of a whole lifecycle. */
import { WebSocket } from "ws";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import type { Benchmark } from "./benchmark.ts";
import { runLifecycle } from "./run-lifecycle.ts";

const sandbox = await createSandbox({ seed: "bench" });
const start = await sandbox.snapshot();
const overHttp = actorsOf(sandbox.description);

/** Counts what all sockets of this process send during one lifecycle. */
async function count(actors: typeof overHttp): Promise<{ messages: number; questions: number }> {
  await start.restore();
  const { send } = WebSocket.prototype;
  let messages = 0;
  let questions = 0;
  Reflect.set(WebSocket.prototype, "send", function counted(this: WebSocket, ...sent: unknown[]) {
    messages += 1;
    questions += JSON.parse(String(sent[0])).length;
    Reflect.apply(send, this, sent);
  });
  try {
    await runLifecycle(actors);
  } finally {
    WebSocket.prototype.send = send;
  }
  return { messages, questions };
}

/** The benchmark `messages`. */
export const benchmark: Benchmark = {
  title: "Messages to the node during a whole lifecycle",
  baseline: "messages of a lifecycle, wallets included",
  rounds: 5,
  unit: "messages",
  subjects: {
    "messages of a lifecycle, wallets included": async () =>
      (await count({ ...overHttp, ...sandbox.wallets })).messages,
    "messages of its API requests and the relayer": async () => (await count(overHttp)).messages,
    "questions in these messages": async () => (await count(overHttp)).questions,
  },
  bars: {
    "messages of a lifecycle, wallets included": { noMoreThan: 50 },
    "messages of its API requests and the relayer": { noMoreThan: 50 },
  },
  close: async () => await sandbox.close(),
};
