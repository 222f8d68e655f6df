import type { RelayOperationKind } from "../../relayer/relayer.ts";
import type { AnsweredRequest, DeliveryOutcome } from "../../server/http/services.ts";

/** The type of a metric, as the Prometheus text format names it. */
type MetricType = "counter" | "gauge" | "summary";

/** The values of one metric, by their labels. */
class Metric {
  readonly #name: string;
  readonly #type: MetricType;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, type: MetricType, help: string) {
    this.#name = name;
    this.#type = type;
    this.#help = help;
  }

  /** @param suffix - of a sample of a summary, such as `_sum`. */
  add(labels: { [name: string]: string }, value = 1, suffix = ""): void {
    const sample = sampleOf(`${this.#name}${suffix}`, labels);
    this.#values.set(sample, (this.#values.get(sample) ?? 0) + value);
  }

  /** The lines of the metric. */
  lines(): string[] {
    return [
      `# HELP ${this.#name} ${this.#help}`,
      `# TYPE ${this.#name} ${this.#type}`,
      ...[...this.#values].map(([sample, value]) => `${sample} ${value}`),
    ];
  }
}

/** The number of relay operations whose last status is remembered. */
const keptStatuses = 10_000;

/** The values that are read when the metrics are asked for. */
export interface CurrentValues {
  inProgress: number;
  /** The number of undelivered events; null while the store is not available. */
  undelivered: number | null;
  /** Bytes. */
  memory: { resident: number; heap: number; anvil: number | null };
}

/**
 * Counts what a process of a sandbox does, for Prometheus. A restore does not reset the counters, because a counter must never decrease.
 *
 * @example metrics.render(current) // "# HELP routing_sandbox_requests_total …"
 */
export class Metrics {
  readonly #requests = new Metric(
    "routing_sandbox_requests_total",
    "counter",
    "Requests to the routing API, by API operation and status; the status is lost if a fault dropped the response.",
  );
  readonly #durations = new Metric(
    "routing_sandbox_request_duration_seconds",
    "summary",
    "Durations of requests to the routing API.",
  );
  readonly #operations = new Metric(
    "routing_sandbox_relay_operations_total",
    "counter",
    "Relay operations that have reached a status.",
  );
  readonly #deliveries = new Metric(
    "routing_sandbox_delivery_attempts_total",
    "counter",
    "Attempts to deliver an event: accepted by the receiver, refused by it, or failed without a response.",
  );
  /** The last statuses of the newest relay operations. */
  readonly #statuses = new Map<string, string>();

  answered({ operation, status }: Pick<AnsweredRequest, "operation" | "status">, durationMs: number): void {
    const of = { operation: operation ?? "none" };
    this.#requests.add({ ...of, status: status === null ? "lost" : `${status}` });
    this.#durations.add(of, durationMs / 1_000, "_sum");
    this.#durations.add(of, 1, "_count");
  }

  /** Counts a relay operation whenever its status has changed. */
  relayed(id: string, { kind, status }: { kind: RelayOperationKind; status: string }): void {
    if (this.#statuses.get(id) === status) return;
    this.#operations.add({ kind, status });
    this.#statuses.set(id, status);
    const [oldest] = this.#statuses.keys();
    if (this.#statuses.size > keptStatuses && oldest !== undefined) this.#statuses.delete(oldest);
  }

  delivered({ status_code }: Pick<DeliveryOutcome, "status_code">): void {
    const isAccepted = status_code !== null && status_code >= 200 && status_code < 300;
    this.#deliveries.add({ outcome: status_code === null ? "failed" : isAccepted ? "accepted" : "refused" });
  }

  /** Returns all metrics in the Prometheus text format, version 0.0.4. */
  render({ inProgress, undelivered, memory }: CurrentValues): string {
    const now = (name: string, help: string, value: number | null) => {
      if (value === null) return [];
      const gauge = new Metric(name, "gauge", help);
      gauge.add({}, value);
      return [gauge];
    };
    const all = [
      this.#requests,
      this.#durations,
      ...now(
        "routing_sandbox_requests_in_progress",
        "Requests to the routing API without a response.",
        inProgress,
      ),
      this.#operations,
      this.#deliveries,
      ...now(
        "routing_sandbox_undelivered_events",
        "Events that are not delivered and not exhausted.",
        undelivered,
      ),
      ...now("process_resident_memory_bytes", "Resident memory of the sandbox's process.", memory.resident),
      ...now("nodejs_heap_size_used_bytes", "Used heap of the sandbox's process.", memory.heap),
      ...now("routing_sandbox_anvil_resident_memory_bytes", "Resident memory of Anvil.", memory.anvil),
    ];
    return `${all.flatMap((metric) => metric.lines()).join("\n")}\n`;
  }
}

function sampleOf(name: string, labels: { [name: string]: string }): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}
