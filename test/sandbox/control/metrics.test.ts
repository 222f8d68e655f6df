import { expect, test } from "vitest";
import type { RequestViews } from "../../../sandbox/activity/views.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

/** The samples of GET /metrics, by their names with labels. */
async function readMetrics(control: string) {
  const response = await fetch(`${control}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  expect(text).toMatch(/\n$/);
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of samples)
    expect(line).toMatch(/^[a-z_]+(\{[a-z]+="[\w]+"(,[a-z]+="[\w]+")*\})? [\d.e+-]+$/);
  const names = new Set(samples.map((line) => line.replace(/(_sum|_count)?[{ ].*/, "")));
  for (const name of names) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} [A-Z].*\\.$`, "m"));
    expect(text).toMatch(new RegExp(`^# TYPE ${name} (counter|gauge|summary)$`, "m"));
  }
  const values = new Map(samples.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
  return (sample: string) => values.get(sample) ?? 0;
}

test("GET /metrics counts requests, relay operations and deliveries, and a restore does not reset it", async () => {
  const sandbox = await freshSandbox();
  const { given, client, receiver, faults, description } = sandbox;
  const { control } = description.urls;
  const start = await sandbox.snapshot();
  const before = await readMetrics(control);
  await given.purchase({ state: "refunded" });
  await client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: "prg_demo", id: "pur_aaaaaaaaaaaaaaaaaaaa" } },
  });
  await faults.set({ layer: "delivery", action: "answer", status: 503 });
  const events = (await sandbox.deliverAll()).length;
  const after = await readMetrics(control);
  const added = (sample: string) => after(sample) - before(sample);
  expect(added('routing_sandbox_requests_total{operation="createPurchase",status="201"}')).toBe(1);
  expect(added('routing_sandbox_requests_total{operation="readPurchase",status="404"}')).toBe(1);
  expect(added('routing_sandbox_request_duration_seconds_count{operation="createPurchase"}')).toBe(1);
  const logged = await fetch(`${control}/requests?operation=createPurchase`);
  const { data } = (await logged.json()) as RequestViews;
  const seconds = added('routing_sandbox_request_duration_seconds_sum{operation="createPurchase"}');
  expect(seconds * 1_000).toBeCloseTo(data[0]?.duration_ms ?? 0, 0);
  for (const kind of ["offer", "collect_refund"])
    for (const status of ["accepted", "signed", "broadcast", "confirmed"])
      expect(added(`routing_sandbox_relay_operations_total{kind="${kind}",status="${status}"}`), status).toBe(
        1,
      );
  expect(added('routing_sandbox_delivery_attempts_total{outcome="accepted"}')).toBe(events);
  expect(added('routing_sandbox_delivery_attempts_total{outcome="refused"}')).toBe(1);
  expect(receiver.deliveries()).toHaveLength(events + 1);
  expect(after("routing_sandbox_undelivered_events")).toBe(0);
  expect(after("routing_sandbox_requests_in_progress")).toBe(0);
  for (const memory of ["process_resident_memory_bytes", "nodejs_heap_size_used_bytes"])
    expect(after(memory)).toBeGreaterThan(2 ** 20);
  await start.restore();
  const restored = await readMetrics(control);
  expect(restored('routing_sandbox_requests_total{operation="createPurchase",status="201"}')).toBe(
    after('routing_sandbox_requests_total{operation="createPurchase",status="201"}'),
  );
});
