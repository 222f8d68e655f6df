import type { MutantGroup } from "./mutant.ts";

const deliver = "test/server/outbox/deliver.test.ts";
const receive = "test/server/api/operations/notifications/receive.test.ts";
const receiver = "test/sandbox/service/receiver/receiver.test.ts";
const pinned = "test/server/outbox/pinned-receiver.test.ts";

export const outbox: readonly MutantGroup[] = [
  {
    file: "server/api/operations/notifications/receive-notification.ts",
    tests: [receive],
    mutants: [
      {
        rule: "An event that is exactly 300 seconds old is taken.",
        find: "> limits.event_tolerance_seconds",
        replace: ">= limits.event_tolerance_seconds",
      },
      {
        rule: "An event from the future is refused as one from the past is.",
        find: 'Math.abs(now - Number(headers["webhook-timestamp"]))',
        replace: 'now - Number(headers["webhook-timestamp"])',
      },
      {
        rule: "The body is the outbox's, byte for byte.",
        find: "event === undefined || event.body_sha256 !== sha256Hex(rawBody)",
        replace: "event === undefined",
      },
      {
        rule: "An event is signed with the pinned key.",
        find: "if (!verifyWebhook(headers, rawBody, current.key.publicKey))",
        replace: "if (rawBody.length === 0)",
      },
      {
        rule: "A duplicate counts as a delivery of its receipt.",
        find: "deliveries: known.value.deliveries + 1",
        replace: "deliveries: known.value.deliveries",
      },
      {
        rule: "A timestamp is decimal digits only.",
        find: "/^[0-9]{1,12}$/",
        replace: "/^[0-9.]{1,12}$/",
      },
    ],
  },
  {
    file: "server/outbox/deliver-event.ts",
    tests: [deliver],
    mutants: [
      {
        rule: "A receiver that answers 410 is not asked again.",
        find: "outcome.status_code === gone",
        replace: "outcome.status_code === 404",
      },
      {
        rule: "Only a 2xx is a success.",
        find: "status >= 200 && status < 300",
        replace: "status >= 200 && status < 400",
      },
      {
        rule: "A redirect is recorded as one that is not followed.",
        find: "status_code >= 300 && status_code < 400",
        replace: "status_code > 300 && status_code < 400",
      },
      {
        rule: "An event that the receiver has signed for counts as delivered.",
        find: 'status: receipt === undefined ? "exhausted" : "delivered"',
        replace: 'status: "exhausted"',
      },
      {
        rule: "A delivered event has one receipt.",
        find: "accepted && known === undefined ?",
        replace: "accepted ?",
      },
      {
        rule: "Every attempt is numbered.",
        find: "number: attempts.length + 1",
        replace: "number: 1",
      },
      {
        rule: "An attempt is on disk before it is made.",
        find: "await record({ ...notification, attempts: [...attempts, started] }, event, null, services);",
        replace: "",
        tests: ["test/server/outbox/crash.test.ts"],
      },
      {
        rule: "An event that was delivered is no longer undelivered.",
        find: 'if (notification.status !== "pending")',
        replace: 'if (notification.status === "exhausted")',
      },
      {
        rule: "Each attempt is signed for its own time.",
        find: "const outcome = await send(event, at, services, outside);",
        replace: "const outcome = await send(event, event.created_at, services, outside);",
      },
    ],
  },
  {
    file: "server/outbox/delivery-attempts.ts",
    tests: [deliver, "test/server/outbox/guide.test.ts"],
    mutants: [
      {
        rule: "A receiver that fails is asked five times and never again.",
        find: "attempts.length < maxDeliveryAttempts",
        replace: "attempts.length <= limits.delivery_attempts",
        tests: [deliver],
      },
      {
        rule: "The first pause is half a second and a bit.",
        find: "2 ** (attempt - 1)",
        replace: "2 ** attempt",
      },
      {
        rule: "Each pause is longer than the one before.",
        find: "firstPauseMs * 2 ** (attempt - 1)",
        replace: "firstPauseMs * attempt",
      },
      {
        rule: "A receiver that asks for a longer pause gets it.",
        find: "(retryAfterSeconds ?? 0) * 1000",
        replace: "(retryAfterSeconds ?? 0) * 1",
      },
      {
        rule: "A receiver is left alone for ten seconds at most.",
        find: "Math.min(Math.max(seconds, 0), longestRetryAfter)",
        replace: "Math.max(seconds, 0)",
      },
      {
        rule: "A Retry-After in the past asks for no pause.",
        find: "Math.max(seconds, 0)",
        replace: "Math.abs(seconds)",
      },
    ],
  },
  {
    file: "server/api/operations/notifications/deliver-notification.ts",
    tests: [deliver],
    mutants: [
      {
        rule: "Another program's event is not found.",
        find: "if (event?.program !== program)",
        replace: "if (event === undefined)",
      },
      {
        rule: "An exhausted event is not delivered again.",
        find: 'if (event.delivery === "exhausted" && resumes === null)',
        replace: 'if (event.delivery === "exhausted" && resumes !== null)',
      },
      {
        rule: "A receiver that is gone is distinguished from one that was asked five times.",
        find: "mayAttempt(attempts)",
        replace: "true",
        tests: [deliver],
        only: "a receiver that fails",
      },
    ],
  },
  {
    file: "server/outbox/find-undelivered.ts",
    tests: [deliver],
    mutants: [
      {
        rule: "Without an event the oldest undelivered one goes out.",
        find: "{ limit: 1 }",
        replace: "{ limit: 1, reverse: true }",
      },
    ],
  },
  {
    file: "server/outbox/freeze-event.ts",
    tests: [deliver],
    mutants: [
      {
        rule: "A write and its event are one commit.",
        find: 'return [...build(id), { kind: "insert", collection: "events", key: id, value }];',
        replace: "return build(id);",
        tests: ["test/server/outbox/events.test.ts"],
      },
      {
        rule: "Two programs count their events apart.",
        find: "return `outbox/${program}`;",
        replace: "return program.length > 0 ? `outbox/` : program;",
      },
      {
        rule: "An event is about the purchase that it names.",
        find: "return data.purchase_id;",
        replace: 'return "merchant_id" in data ? data.merchant_id : data.purchase_id;',
        tests: ["test/sandbox/hosts/explorer/data.test.ts", "test/server/outbox/events.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/service/receiver/receiver.ts",
    tests: [receiver],
    mutants: [
      {
        rule: "Each delivery is handed out once.",
        find: "!this.#taken.has(one) && matches(one)",
        replace: "matches(one)",
      },
      {
        rule: "A delivery that a caller waits for is handed out once.",
        find: "    this.#taken.add(arrival);\n",
        replace: "",
      },
      {
        rule: "A restore takes deliveries back.",
        find: "this.#arrivals = arrivals;",
        replace: "",
      },
      {
        rule: "A restore takes the numbers of deliveries back.",
        find: "this.#tap.count = count;",
        replace: "",
      },
      {
        rule: "A restore forgets which deliveries were handed out since.",
        find: "arrivals.filter(({ number }) => taken.includes(number))",
        replace: "arrivals",
      },
    ],
  },
  {
    file: "sandbox/lib/http/deliver.ts",
    tests: [pinned],
    mutants: [
      {
        rule: "A long answer has its beginning kept.",
        find: "const answerBytes = 2_048;",
        replace: "const answerBytes = 4_096;",
        tests: [deliver],
      },
      {
        rule: "The receiver's address is the one that was pinned at the start.",
        find: "    lookup,\n",
        replace: "",
      },
      {
        rule: "A delivery that takes too long is reported as that.",
        find: "const reason = timeout.aborted",
        replace: "const reason = !timeout.aborted",
        tests: [deliver],
      },
      {
        rule: "A restore ends the delivery that is under way.",
        find: "const end = AbortSignal.any([timeout, signal]);",
        replace: "const end = AbortSignal.any([timeout]);",
        tests: ["test/sandbox/lib/http/request-gate.test.ts"],
        only: "a restore ends it",
      },
    ],
  },
];
