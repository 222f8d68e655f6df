import { styleText } from "node:util";
import { githubAnnotation } from "../../server/lib/github-annotation.ts";
import { renderJunit } from "../../server/lib/render-junit.ts";
import type { CaseFault } from "./check-case.ts";
import type { CheckedCase, ClientReport } from "./check-client.ts";
import { nameWrite } from "./client-requests.ts";
import { late } from "./event-cases.ts";
import { type CaseVerdict, verdicts } from "./judge.ts";
import { slowMs } from "./write-cases.ts";

/** Every verdict in words. */
const meanings: { readonly [V in CaseVerdict]: string } = {
  safe: "the client succeeded, and did everything once",
  stopped: "the client failed, and did nothing twice",
  not_reached: "the run did not get to the write or the event",
  wrong_figures: "the client succeeded with figures that are not those of the chain",
  lost: "the client succeeded, and something was not done",
  accepted_forgery:
    "the client's receiver did not refuse an event that the service did not send, or the client acted on it",
  acted_twice: "the client did something twice, or requested it again in another way",
};

/** Every fault in words. */
const faults: { readonly [F in CaseFault]: string } = {
  "answer-lost": "the write was recorded, and its response was lost",
  partial: "the write was recorded, and its response ended early",
  "503-after-commit": "the write was recorded, and its response was 503",
  "429-after-commit": "the write was recorded, and its response was 429",
  reset: "nothing was recorded, and the connection dropped",
  "503-before-commit": "nothing was recorded, and the response was 503",
  "429-before-commit": "nothing was recorded, and the response was 429",
  slow: `the write took ${slowMs} ms longer`,
  hold: "the response was 202 until the same request came again",
  "node-down": "a call to the node failed during the write or the read",
  reorg: "the blocks with the effect were removed from the chain after their confirmation",
  credential_expired: "the credential of the client expired after the write",
  credential_revoked: "the credential of the client was revoked after the write",
  "event-twice": "the event came twice",
  "event-answer-lost": "the event came again, because the response to it was lost",
  "event-order": "the next event came first",
  "event-late": `the event was made ${late} before it came`,
  "forged-signature": "an event came with a wrong signature",
  "forged-body": "an event came with a changed body",
  "forged-bytes": "an event came with other bytes of the same JSON",
  "forged-timestamp": `an event came that was signed ${late} ago`,
  "forged-key": "an event came that another key had signed",
};

const styles: { readonly [V in CaseVerdict]: "green" | "yellow" | "red" } = {
  safe: "green",
  stopped: "yellow",
  not_reached: "yellow",
  wrong_figures: "red",
  lost: "red",
  accepted_forgery: "red",
  acted_twice: "red",
};

/** Returns the cases of each write and each event, under its title. */
function groupsOf({ clean, cases }: ClientReport): [title: string, cases: CheckedCase[]][] {
  const title = ({ n, operation }: CheckedCase) => {
    const event = clean.events.find((one) => one.n === n && one.type === operation);
    if (event !== undefined) return `event ${n}: ${operation} ${event.id}`;
    const write = clean.writes.find((one) => one.n === n && one.operation === operation);
    return write === undefined
      ? `the read after write ${n}: ${operation}`
      : `write ${n}: ${nameWrite(write)}`;
  };
  return [...Map.groupBy(cases, title)];
}

/** A report for a terminal: for each write and each event, the faults that were safe, and the cause of each that was not. */
export function renderReport(report: ClientReport, color: boolean): string {
  const paint = (style: "bold" | "red" | "green" | "yellow" | "dim", text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const { clean, totals, cases, passed } = report;
  const many = (count: number, name: string) => `${count} ${count === 1 ? name : `${name}s`}`;
  const lines = [
    `Without a fault: ${many(clean.writes.length, "write")} and ${many(clean.events.length, "event")} in ${clean.ms} ms`,
    ...clean.differences,
    ...(clean.events.length === 0
      ? [
          "No event went to a receiver of the client, so no case has one: name it with the option receiverUrl.",
        ]
      : []),
    ...clean.events
      .filter(({ refusal }) => refusal !== null)
      .map(({ n, type, id, refusal }) => `Event ${n}, ${type} ${id}, has no case, because ${refusal}.`),
  ];
  for (const [title, group] of groupsOf(report)) {
    const safe = group.filter(({ verdict }) => verdict === "safe").map(({ fault }) => fault);
    lines.push("", paint("bold", title));
    if (safe.length > 0) lines.push(`  ${paint("green", "safe".padEnd(16))}  ${safe.join(", ")}`);
    for (const { verdict, fault, cause, trace, trace_problem } of group.filter(
      (one) => one.verdict !== "safe",
    )) {
      lines.push(`  ${paint(styles[verdict], verdict.padEnd(16))}  ${fault}: ${cause}`);
      const traced = trace ?? trace_problem;
      if (traced !== null) lines.push(`  ${" ".repeat(16)}  ${paint("dim", traced)}`);
    }
  }
  const harmful = new Set(cases.filter(({ verdict }) => verdict !== "safe").map(({ fault }) => fault));
  if (harmful.size > 0) lines.push("", "Faults whose cases are not safe");
  for (const fault of harmful) lines.push(`  ${fault.padEnd(18)}  ${faults[fault]}`);
  lines.push("", many(cases.length, "case"));
  for (const verdict of verdicts.filter((one) => totals[one] > 0))
    lines.push(
      `  ${paint(styles[verdict], verdict.padEnd(16))}  ${String(totals[verdict]).padStart(4)}  ${meanings[verdict]}`,
    );
  lines.push(
    "",
    passed
      ? paint(
          "green",
          `The client does nothing twice${totals.stopped === 0 ? " and loses nothing" : ", and fails when it loses something"}.`,
        )
      : paint("red", "The client is not safe."),
  );
  return lines.join("\n");
}

/** The cases that fail the check. */
function failedOf({ cases }: ClientReport, strict: boolean): CheckedCase[] {
  return cases.filter(({ verdict }) => verdict !== "safe" && (strict || verdict !== "stopped"));
}

/** Returns a report as annotations of GitHub Actions: an error for each case that fails the check. */
export function toAnnotations(report: ClientReport, strict: boolean): string {
  return failedOf(report, strict)
    .map(
      ({ operation, fault, verdict, cause }) =>
        `${githubAnnotation("error", `${operation}, ${fault}: ${verdict}`, cause)}\n`,
    )
    .join("");
}

/** Returns a report as JUnit XML, with a suite for each write and each event. */
export function toJunit(report: ClientReport, strict: boolean): string {
  const failed = new Set(failedOf(report, strict));
  return renderJunit(
    groupsOf(report).map(([title, cases]) => ({
      name: title,
      cases: cases.map((one) => ({
        group: one.operation,
        name: one.fault,
        failure: failed.has(one)
          ? [`${one.verdict}: ${one.cause}`, one.trace ?? one.trace_problem ?? []].flat().join("\n")
          : null,
        duration_ms: one.ms,
      })),
    })),
  );
}

/** Returns a report as Markdown, for the summary of a job of GitHub Actions. */
export function toSummary(report: ClientReport): string {
  const rows = groupsOf(report).flatMap(([title, cases]) =>
    cases
      .filter(({ verdict }) => verdict !== "safe")
      .map(
        ({ fault, verdict, cause }) =>
          `| ${title} | ${fault} | ${verdict} | ${cause.replaceAll("|", "\\|")} |`,
      ),
  );
  const totals = verdicts.filter((verdict) => report.totals[verdict] > 0);
  return [
    "### check-client",
    "",
    `${totals.map((verdict) => `${report.totals[verdict]} ${verdict}`).join(", ")} of ${report.cases.length} cases.`,
    "",
    ...(rows.length === 0
      ? []
      : ["| Write or event | Fault | Verdict | Cause |", "| --- | --- | --- | --- |", ...rows, ""]),
  ].join("\n");
}
