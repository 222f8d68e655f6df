import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sha256Hex } from "../../../../protocol/values/canonical-json.ts";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { freezeEvent } from "../../../../server/http/freeze-event.ts";
import { limits } from "../../../../server/limits.ts";
import { reconciliationData } from "../../../../server/payments/reconcile-purchase.ts";
import { eventTypeNames } from "../../../../server/schemas/event-types.ts";
import { eventSchema } from "../../../../server/schemas/notifications.ts";
import type { EventRecord } from "../../../../server/store/records.ts";
import { silentPrinter } from "../../../../testkit/demo/printer.ts";
import { runDemo } from "../../../../testkit/demo/run-demo.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let events: EventRecord[];

beforeAll(async () => {
  sandbox = await freshSandbox();
  await runDemo(sandbox.description, silentPrinter);
  events = (await sandbox.store.list("events", {})).map(({ value }) => value);
});

describe("the events of a purchase's lifecycle", () => {
  test("are of these types, one for each change, in this order", () => {
    expect(events.slice(0, 9).map(({ type }) => type)).toEqual([
      "merchant.created",
      "merchant.enrolled",
      "purchase.created",
      "purchase.activated",
      "purchase.reconciled",
      "purchase.claimed",
      "purchase.decided",
      "refund.due",
      "refund.collected",
    ]);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  });

  test("have bodies of the shape that is described, and nothing more", () => {
    for (const { id, type, program, sequence, body, body_sha256 } of events) {
      const parsed: unknown = JSON.parse(body);
      expect(eventSchema.parse(parsed)).toEqual(parsed);
      expect(parsed).toMatchObject({ id, type, program, sequence });
      expect(body_sha256).toBe(sha256Hex(new TextEncoder().encode(body)));
    }
  });

  test("are valid by the webhooks of the served OpenAPI description", async () => {
    const response = await fetch(new URL("/v1/routing/openapi.json", sandbox.description.urls.api));
    const description = z
      .looseObject({ webhooks: z.record(z.string(), z.unknown()) })
      .parse(await response.json());
    expect(Object.keys(description.webhooks)).toEqual(eventTypeNames);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(description, "api");
    for (const { type, body } of events) {
      const at = `api#/webhooks/${type}/post/requestBody/content/application~1json/schema`;
      const isValid = ajv.compile({ $ref: at });
      expect(isValid(JSON.parse(body))).toBe(true);
      expect(isValid({ ...JSON.parse(body), data: {} })).toBe(false);
    }
  });
});

test("the largest event fits into the body that receivers accept", () => {
  const receipt = {
    transaction_hash: `0x${"f".repeat(64)}`,
    log_index: 999_999,
    block_number: 1,
    block_hash: `0x${"f".repeat(64)}`,
    payer: `0x${"f".repeat(40)}`,
    amount: "9".repeat(38),
    paid_total: "9".repeat(38),
    reconciled_at: null,
  } as const;
  const many = Array.from({ length: 5_000 }, () => receipt);
  const affected = Array.from({ length: 5_000 }, () => "pur_abcdefghij234567abcd");
  const data = reconciliationData("pur_abcdefghij234567abcd", { applied: many, reverted: many, affected });
  const id = "evt_abcdefghij234567abcd";
  const event = { type: "purchase.reconciled", data } as const;
  const { body } = freezeEvent({
    id,
    program: `prg_${"p".repeat(40)}`,
    sequence: 1,
    event,
    now: 1_767_225_600,
  });
  expect(body.length).toBeLessThan(limits.body_bytes);
  expect(data.totals).toEqual({ applied: 5_000, reverted: 5_000, affected_purchases: 5_000 });
  expect([data.applied, data.reverted, data.affected_purchases].map(({ length }) => length)).toEqual([
    50, 50, 50,
  ]);
  expect(eventSchema.parse(JSON.parse(body))).toEqual(JSON.parse(body));
});
