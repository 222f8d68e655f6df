import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { approveCall } from "../../../protocol/call.ts";
import { verifySharedSecret } from "../../../protocol/signatures/webhook.ts";
import { headersOf, webhookHeadersOf } from "../../../sandbox/receiver/arrival.ts";
import { type ClientCheck, type ClientReport, checkClient, type Sandbox } from "../../../testkit/index.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** Checks a client whose only write creates a purchase, with faults of that write. */
async function checkSale(
  sell: (sandbox: Sandbox, merchant: string) => Promise<unknown>,
  only: string,
  options: Partial<ClientCheck> = {},
): Promise<ClientReport> {
  return await checkClient({
    given: async ({ given }) => await given.merchant({ state: "funded" }),
    run: async (sandbox) => {
      const [merchant] = await sandbox.store.list("merchants", {});
      await sell(sandbox, merchant?.key ?? "");
    },
    only,
    ...options,
  });
}

const sale = ({ wallets }: Sandbox) => ({
  buyer: wallets.buyer.address,
  beneficiary: wallets.beneficiary.address,
  amount: "25000000",
  terms: { sku: "course-42" },
});

async function sendOnce(
  sandbox: Sandbox,
  merchant_id: string,
  key: string,
  signal: AbortSignal | null = null,
): Promise<string> {
  const { data, response } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": key } },
    body: { merchant_id, ...sale(sandbox) },
    signal,
  });
  if (data === undefined) throw new Error(`it got ${response.status}`);
  return data.id;
}

/** Sends a request, and gives it up once a fault delays it and something else was done. */
async function giveUp<T>(
  sandbox: Sandbox,
  send: (signal: AbortSignal) => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> {
  const end = new AbortController();
  const sent = send(end.signal);
  let isAnswered = false;
  const answered = () => {
    isAnswered = true;
  };
  void sent.then(answered, answered);
  while (!isAnswered && sandbox.faults.list().every(({ hits }) => hits === 0))
    await new Promise(setImmediate);
  await meanwhile();
  end.abort();
  return await sent;
}

/** Activates a purchase. */
async function activate(
  sandbox: Sandbox,
  id: string,
  { key = randomUUID(), signal = null }: { key?: string; signal?: AbortSignal | null } = {},
): Promise<number> {
  const purchase = await sandbox.store.get("purchases", id);
  const { response } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
    params: { path: { program: "prg_demo", id }, header: { "Idempotency-Key": key } },
    body: { commitment_hash: purchase?.value.commitment_hash ?? "0x" },
    signal,
  });
  return response.status;
}

async function reconcile(sandbox: Sandbox, id: string, key: string): Promise<void> {
  await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program: "prg_demo", id }, header: { "Idempotency-Key": key } },
    body: {},
  });
}

/** An event as a receiver gets it. */
interface Received {
  type: string;
  sequence: number;
  data: { purchase_id: string };
  /** Whether the service has signed it. */
  isGenuine: boolean;
}

/** Returns the responses to genuine events and to all others. */
const answering =
  (forged: Answer) =>
  ({ isGenuine }: Received) =>
    isGenuine ? 204 : forged;

/** A status; null drops the connection. */
type Answer = number | null;

/** Pins a receiver that responds with what a function returns, has all events delivered, and returns what ends it. */
async function receive(sandbox: Sandbox, respond: (event: Received) => Answer | Promise<Answer>) {
  const receiver = await openReceiver(sandbox, respond);
  await sandbox.receiver.pin(receiver.url);
  await sandbox.deliverAll();
  return receiver.end;
}

/** Opens a receiver that responds with what a function returns. */
async function openReceiver(
  sandbox: Sandbox,
  respond: (event: Received) => Answer | Promise<Answer>,
  port = 0,
) {
  const { hmac_secret } = sandbox.description.receiver;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isGenuine = verifySharedSecret(webhookHeadersOf(headersOf(request)), body, hmac_secret);
    const status = await respond({ ...JSON.parse(body.toString()), isGenuine });
    if (status === null) response.destroy();
    else response.writeHead(status).end();
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const end = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
  return { url, end, port: Number(new URL(url).port) };
}

/** Returns a port at which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** Receives events in their order, and takes one with a lower number than the last for one that it has had. */
async function receiveInOrder(sandbox: Sandbox, act: (purchase: string) => Promise<unknown>, count: number) {
  let highest = 0;
  let received = 0;
  const all = Promise.withResolvers<void>();
  const end = await receive(sandbox, async ({ type, sequence, data }) => {
    const isNew = sequence > highest;
    highest = Math.max(highest, sequence);
    if (type === "purchase.created" && isNew) await act(data.purchase_id);
    if (type === "purchase.created") received += 1;
    if (received === count) all.resolve();
    return 204;
  });
  await all.promise;
  await end();
}

describe("checkClient", () => {
  test("finds that a client creates a purchase twice after a lost response, and that the package's client does not", async () => {
    const wrong = await checkSale(async (sandbox, merchant) => {
      const send = async () => await sendOnce(sandbox, merchant, randomUUID());
      await send().catch(send);
    }, "createPurchase/answer-lost");
    expect(wrong).toMatchObject({
      passed: false,
      totals: { acted_twice: 1 },
      clean: {
        writes: [
          { n: 1, operation: "issueAccess" },
          { n: 2, operation: "createPurchase" },
        ],
        events: [],
      },
      cases: [
        { n: 2, operation: "createPurchase", fault: "answer-lost", verdict: "acted_twice", trace: null },
      ],
    });
    expect(wrong.cases[0]?.cause).toMatch(
      /^2 purchases in place of 1 \(pur_\w+, pur_\w+\); createPurchase was requested again with another Idempotency-Key \([\w-]+, then [\w-]+\) \d+ ms after its response was lost\.$/,
    );
    const right = await checkSale(
      async (sandbox, merchant) =>
        await sandbox.client.retrying.createPurchase({ id: merchant, program: "prg_demo" }, sale(sandbox)),
      "createPurchase/answer-lost",
    );
    expect(right).toMatchObject({ passed: true, totals: { safe: 1 } });
  });

  test("finds that a client asks with another key after it has given up", { tags: "thorough" }, async () => {
    const { cases } = await checkSale(async (sandbox) => {
      const { id } = (await sandbox.given.purchase({ state: "created" })).purchase;
      await giveUp(sandbox, async (signal) => await activate(sandbox, id, { signal })).catch(
        async () => await activate(sandbox, id),
      );
    }, "activatePurchase/slow");
    expect(cases).toMatchObject([
      {
        verdict: "acted_twice",
        cause: expect.stringMatching(
          /^activatePurchase of pur_\w+ was requested again with another Idempotency-Key \([\w-]+, then [\w-]+\) \d+ ms after the client stopped waiting for its response\.$/,
        ),
      },
    ]);
  });

  test("names the keys of the request that was sent again, and not of the same request that was sent meanwhile", {
    tags: "thorough",
  }, async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await giveUp(
        sandbox,
        async (signal) => await sendOnce(sandbox, merchant, "order-1001", signal),
        async () => await sendOnce(sandbox, merchant, "order-1002"),
      ).catch(async () => await sendOnce(sandbox, merchant, "order-1001-again"));
    }, "createPurchase/slow");
    expect(cases[0]).toMatchObject({
      n: 2,
      verdict: "acted_twice",
      cause: expect.stringContaining("another Idempotency-Key (order-1001, then order-1001-again)"),
    });
  });

  test.each([
    ["after its outcome is known, as a test of the refusal does", true, "safe"],
    ["before its outcome is known", false, "acted_twice"],
  ])("judges a key that is sent with another body %s", async (_when, isKnown, verdict) => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const sell = async () => await sendOnce(sandbox, merchant, "order-1001");
      await sell().catch(async () => (isKnown ? await sell() : null));
      const { response } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
        params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "order-1001" } },
        body: { merchant_id: merchant, ...sale(sandbox), amount: "1" },
      });
      expect(response.status).toBe(422);
    }, "createPurchase/answer-lost");
    expect(cases[0]).toMatchObject({ verdict });
  });

  test("finds that a client asks again without a key", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001").catch(
        async () => await sendOnce(sandbox, merchant, JSON.parse("null")),
      );
    }, "createPurchase/answer-lost");
    expect(cases[0]).toMatchObject({
      verdict: "acted_twice",
      cause: expect.stringContaining("with another Idempotency-Key (order-1001, then none)"),
    });
  });

  test.each([
    ["202", "hold"],
    ["429", "429-after-commit"],
    ["503", "503-after-commit"],
  ])("finds that a client activates with another key after %s", async (status, fault) => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const id = await sendOnce(sandbox, merchant, randomUUID());
      if ((await activate(sandbox, id)) !== 200) await activate(sandbox, id);
    }, `activatePurchase/${fault}`);
    expect(cases).toMatchObject([
      { verdict: "acted_twice", cause: expect.stringContaining(` ms after its response was ${status}.`) },
    ]);
  });

  test("finds that a client has last read another status of a purchase than it has", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const id = await sendOnce(sandbox, merchant, randomUUID());
      await activate(sandbox, id).catch(() => null);
    }, "activatePurchase/answer-lost");
    expect(cases).toMatchObject([
      {
        verdict: "wrong_figures",
        cause: expect.stringMatching(
          /^the client last read status created of pur_\w+, which is active on the chain\.$/,
        ),
      },
    ]);
  });

  test("judges a write that the client has given up when the service has ended it", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await giveUp(sandbox, async (signal) => await sendOnce(sandbox, merchant, randomUUID(), signal)).catch(
        () => {},
      );
    }, "createPurchase/slow");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("names the event that a client has lost because a later one came first", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await sendOnce(sandbox, merchant, "order-1002");
      await receiveInOrder(sandbox, async (id) => await activate(sandbox, id), 2);
    }, "purchase.created/event-order");
    expect(cases[0]).toMatchObject({
      verdict: "lost",
      cause: expect.stringMatching(
        /^purchase\.created evt_\w+ came \d+ ms after the later purchase\.created evt_\w+; the client reported success; missing: 1 activation, /,
      ),
    });
  });

  test.each<[string, (sandbox: Sandbox, id: string) => Promise<unknown>, RegExp]>([
    [
      "under the key that it has for the genuine one",
      async (sandbox, id) => await activate(sandbox, id, { key: `activate-${id}` }),
      /; activatePurchase of pur_\w+ was requested \d+ ms after it, before the genuine event\.$/,
    ],
    [
      "on the chain",
      async ({ wallets, description: { contracts } }) =>
        await wallets.stranger.sendCall(approveCall(contracts.token, contracts.registrar, 5n)),
      /; allowances were made after it, before the genuine event\.$/,
    ],
  ])(
    "finds that a client acts on a forged event that it refuses, %s",
    { tags: "thorough" },
    async (_, act, cause) => {
      const { cases } = await checkSale(async (sandbox, merchant) => {
        await sendOnce(sandbox, merchant, "order-1001");
        const end = await receive(sandbox, async ({ type, data, isGenuine }) => {
          if (type !== "purchase.created") return 400;
          await act(sandbox, data.purchase_id);
          return isGenuine ? 204 : 401;
        });
        await end();
      }, "forged-key");
      expect(cases).toMatchObject([{ verdict: "accepted_forgery", cause: expect.stringMatching(cause) }]);
      expect(cases[0]?.cause).toMatch(
        /^the receiver responded with 401 to purchase\.created that another key has signed; /,
      );
    },
  );

  test("allows what a client does anyway while a forged event comes", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const id = await sendOnce(sandbox, merchant, "order-1001");
      let isDelivered = false;
      const delivering = receive(sandbox, answering(401)).then(async (end) => {
        isDelivered = true;
        await end();
      });
      while (!isDelivered) await reconcile(sandbox, id, "reconcile-1001");
      await delivering;
    }, "forged-key");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("allows what a client does anyway, before the events in one run and while a forged one comes in the next", {
    tags: "thorough",
  }, async () => {
    let runs = 0;
    const { cases } = await checkSale(
      async (sandbox, merchant) => {
        runs += 1;
        const arrived = Promise.withResolvers<void>();
        if (runs % 2 === 1) await sendOnce(sandbox, merchant, "order-1001");
        const delivering = receive(sandbox, (event) => {
          arrived.resolve();
          return answering(401)(event);
        });
        await arrived.promise;
        if (runs % 2 === 0) await sendOnce(sandbox, merchant, "order-1001");
        await (await delivering)();
      },
      "merchant.created/forged-key",
      { repeat: 4 },
    );
    expect(cases.map(({ verdict, cause }) => [verdict, cause])).toEqual(
      Array(4).fill(["safe", "the effects are those of the clean run."]),
    );
  });

  test("allows that a receiver drops the connection of a forged event", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await (await receive(sandbox, answering(null)))();
    }, "merchant.created/forged-key");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("forges the event again when the receiver did not listen yet", { tags: "thorough" }, async () => {
    const port = await freePort();
    const sell = async (sandbox: Sandbox, merchant: string) => {
      await sandbox.receiver.pin(`http://127.0.0.1:${port}/`);
      await sendOnce(sandbox, merchant, "order-1001");
      const delivering = sandbox.deliverAll();
      const isTried = async () => {
        const notifications = await sandbox.store.list("notifications", {});
        return notifications.some(({ value }) => (value.attempts[0]?.outcome ?? null) !== null);
      };
      while (!(await isTried())) await new Promise(setImmediate);
      const { end } = await openReceiver(sandbox, () => 204, port);
      await delivering;
      await end();
    };
    const options: Partial<ClientCheck> = { options: { mode: "live" } };
    const { cases } = await checkSale(sell, "merchant.created/forged-key", options);
    expect(cases).toMatchObject([
      { verdict: "accepted_forgery", cause: expect.stringContaining("the receiver responded with 204 to ") },
    ]);
  });

  test("forges the first event of each type, and finds that a client verifies only some", {
    tags: "thorough",
  }, async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      const respond = (event: Received) => answering(event.type === "purchase.created" ? 204 : 401)(event);
      await (await receive(sandbox, respond))();
    }, "forged-signature");
    expect(cases).toMatchObject([
      { operation: "merchant.created", verdict: "safe" },
      { operation: "merchant.enrolled", verdict: "safe" },
      {
        operation: "purchase.created",
        verdict: "accepted_forgery",
        cause: "the receiver responded with 204 to purchase.created with a wrong signature.",
      },
    ]);
  });

  test("refuses two sandboxes for a client that itself listens at the receiver's URL", async () => {
    const port = await freePort();
    const sell = async (sandbox: Sandbox, merchant: string) => {
      await sendOnce(sandbox, merchant, "order-1001");
      const { end } = await openReceiver(sandbox, () => 204, port);
      await sandbox.deliverAll();
      await end();
    };
    const url = `http://127.0.0.1:${port}/`;
    const options: Partial<ClientCheck> = { jobs: 2, options: { receiverUrl: url } };
    await expect(checkSale(sell, "event-twice", options)).rejects.toMatchObject({
      code: "argument_invalid",
      message: `The client itself listens at ${url} (the option receiverUrl), so only one run at a time is possible. Leave out the option jobs, or have the client pin a receiver with a port of its own.`,
    });
  });

  test("finds that a receiver answers a forged event with something other than 4xx", async () => {
    const { cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await (await receive(sandbox, answering(500)))();
    }, "merchant.created/forged-key");
    expect(cases).toMatchObject([
      {
        verdict: "accepted_forgery",
        cause: expect.stringContaining("the receiver responded with 500 to "),
      },
    ]);
  });

  test("refuses a client whose receiver accepts no event without a fault", async () => {
    const checking = checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await (await receive(sandbox, () => 401))();
    }, "forged");
    await expect(checking).rejects.toThrow(
      /^The receiver of the client accepted no event without a fault: \S+ was not, because the receiver responded with 401\. Have it respond with 2xx\.$/,
    );
  });

  test("has no case of an event that the receiver does not accept without a fault", async () => {
    const { clean, cases } = await checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, "order-1001");
      await (await receive(sandbox, ({ type }) => (type === "purchase.created" ? 204 : 400)))();
    }, "event-twice");
    expect(clean.events).toMatchObject([
      { type: "merchant.created", refusal: "the receiver responded with 400" },
      { type: "merchant.enrolled", refusal: "the receiver responded with 400" },
      { type: "purchase.created", refusal: null },
    ]);
    expect(cases).toMatchObject([{ n: 3, verdict: "safe" }]);
  });

  test("allows the number of keys of either run without a fault", { tags: "thorough" }, async () => {
    let runs = 0;
    const { cases } = await checkSale(async (sandbox, merchant) => {
      const id = await sendOnce(sandbox, merchant, "order-1001");
      runs += 1;
      for (let count = 0; count < Math.min(runs, 2); count += 1) await reconcile(sandbox, id, randomUUID());
      await receiveInOrder(sandbox, async () => {}, 1);
    }, "purchase.created/event-twice");
    expect(cases).toMatchObject([{ verdict: "safe" }]);
  });

  test("disturbs the client's own request after one of the sandbox for the same operation", {
    tags: "thorough",
  }, async () => {
    const { cases } = await checkClient({
      run: async (sandbox) => {
        const { merchant } = await sandbox.given.merchant({ state: "funded" });
        await sandbox.client.retrying.createPurchase(merchant, sale(sandbox));
      },
      only: "issueAccess/credential_expired",
    });
    expect(cases).toMatchObject([{ n: 1, verdict: "safe" }]);
  });

  test("refuses a folder for traces that cannot be made, before it starts a sandbox", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "file");
    await writeFile(file, "");
    for (const [traces, reason] of [
      ["/proc/traces", "there is no such file (ENOENT, /proc/traces)"],
      [file, `a file has this name (EEXIST, ${file})`],
    ] as const)
      await expect(
        checkClient({ given: () => expect.unreachable(), run: async () => {}, traces }),
      ).rejects.toMatchObject({
        code: "trace_refused",
        message: `Traces cannot be written to ${traces}: ${reason}. Name another folder.`,
      });
    await expect(
      checkClient({ run: () => Promise.reject(new Error("it failed")), traces: join(folder, "a", "b") }),
    ).rejects.toMatchObject({ code: "client_unusable" });
    expect(await readdir(folder)).toEqual(["file"]);
  });

  test("has a verdict for a case whose trace cannot be written, and says why", async () => {
    const traces = await temporaryFolder();
    const trace = join(traces, "1-createPurchase-answer-lost.trace.html");
    await mkdir(trace);
    const sell = async (sandbox: Sandbox, merchant: string) => {
      const send = async () => await sendOnce(sandbox, merchant, randomUUID());
      await send().catch(send);
    };
    const { cases } = await checkSale(sell, "createPurchase/answer-lost", { traces });
    const problem = `The trace ${trace} cannot be written: a directory has this name (EISDIR). Name another file.`;
    expect(cases).toMatchObject([{ verdict: "acted_twice", trace: null, trace_problem: problem }]);
  });

  test("exits with 125 for a command that does not exist", async () => {
    expect(await tryCli(["check-client", "--", "no-such-command"])).toEqual({
      code: 125,
      stdout: "",
      stderr: '"no-such-command" is in no folder of PATH. Install it, or pass its path.\n',
    });
  });

  test("names the failure of the client and its last failed request in clauses of their own", async () => {
    const { cases } = await checkSale(
      async (sandbox, merchant) => await sendOnce(sandbox, merchant, randomUUID()),
      "createPurchase/503-before-commit",
    );
    expect(cases).toMatchObject([
      {
        verdict: "stopped",
        cause: expect.stringMatching(
          /^it got 503; the last failed request, createPurchase, got 503 \w+; missing: 1 purchase, 1 event\.$/,
        ),
      },
    ]);
  });

  test("refuses an unknown option, and a state that is no function", async () => {
    const options = { run: async () => {}, onyl: "createPurchase" };
    await expect(checkClient(options)).rejects.toThrow("There is no option onyl. Did you mean only?");
    await expect(
      checkClient({ run: async () => {}, ...JSON.parse('{ "given": "merchant" }') }),
    ).rejects.toThrow('The option given is "merchant". Pass a function that creates the state, such as ');
  });

  test("takes a function that returns no promise", async () => {
    await expect(checkClient({ run: () => {} })).rejects.toThrow("The client succeeded and sent no request");
  });

  test("asks whether a misspelled operation is meant", async () => {
    const checking = checkSale(async (sandbox, merchant) => {
      await sendOnce(sandbox, merchant, randomUUID());
    }, "createpurchase");
    await expect(checking).rejects.toThrow("Did you mean createPurchase?");
  });
});
