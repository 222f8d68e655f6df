import { escapeLines, escapeMarkup } from "./escape-controls.ts";

/** One test of a report. */
export interface JunitCase {
  group: string;
  name: string;
  /** Null when it passed. */
  failure: string | null;
  duration_ms: number;
  /** Whether it did not run. */
  skipped?: boolean;
}

/** Returns a report as JUnit XML. */
export function renderJunit(suites: readonly { name: string; cases: readonly JunitCase[] }[]): string {
  const rendered = suites.map(({ name, cases }) => {
    const failures = cases.filter(({ failure }) => failure !== null).length;
    const skipped = cases.filter((one) => one.skipped).length;
    const counts = `tests="${cases.length}" failures="${failures}"${skipped === 0 ? "" : ` skipped="${skipped}"`}`;
    return [
      `  <testsuite name="${inAttribute(name)}" ${counts}>`,
      ...cases.map(renderCase),
      "  </testsuite>",
    ].join("\n");
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${rendered.join("\n")}\n</testsuites>\n`;
}

function renderCase({ group, name, failure, duration_ms, skipped = false }: JunitCase): string {
  const head = `    <testcase classname="${inAttribute(group)}" name="${inAttribute(name)}" time="${duration_ms / 1_000}"`;
  if (failure !== null)
    return `${head}>\n      <failure message="${inAttribute(failure)}"/>\n    </testcase>`;
  return skipped ? `${head}>\n      <skipped/>\n    </testcase>` : `${head}/>`;
}

/** XML has no form for most control characters. */
function inAttribute(text: string): string {
  return escapeMarkup(escapeLines(text));
}
