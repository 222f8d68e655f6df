import { type Breach, callNames, followsFromView } from "./breach.ts";

/** A check that failed. */
interface FailedCheck {
  suite: string;
  name: string;
  breach: Breach;
}

/** One rule that the contract breaks, and the checks that show it. */
export interface Finding {
  rule: string;
  /** The failure of the first of the checks. */
  failure: string;
  checks: { suite: string; name: string }[];
}

/**
 * Groups failed checks by the rule that is broken, or by the view that shows why it is broken. A check that names no rule belongs to the finding that includes it, or to the first one with the function that it called last; if
 * there is none, to that of a view; if no view is wrong, it is a finding of its own.
 */
export function groupFindings(checks: readonly FailedCheck[]): Finding[] {
  const failed = joinFunctions(checks);
  const broken = new Set(failed.map(({ breach: { rule, includedIn } }) => includedIn === undefined && rule));
  const findings = new Map<string, { finding: Finding; calls: Set<string | undefined> }>();
  const add = (rule: string, { suite, name, breach }: FailedCheck) => {
    const { finding, calls } = findings.get(rule) ?? {
      finding: { rule: breach.mustSucceed ?? rule, failure: breach.failure, checks: [] },
      calls: new Set(),
    };
    if (breach.rule === rule && breach.mustSucceed !== undefined && finding.rule === rule) {
      // It shows more than a call that is refused for another reason than the right one.
      Object.assign(finding, { rule: breach.mustSucceed, failure: breach.failure });
      finding.checks.unshift({ suite, name });
    } else finding.checks.push({ suite, name });
    calls.add(breach.calls);
    findings.set(rule, { finding, calls });
  };
  const shown: (readonly [viewRule: string, check: FailedCheck])[] = [];
  for (const check of failed) {
    const { rule, includedIn } = check.breach;
    if (rule === undefined) continue;
    const isIncluded = includedIn !== undefined && broken.has(includedIn);
    const viewRule = isIncluded ? undefined : [...broken].find((one) => one && followsFromView(rule, one));
    if (viewRule) shown.push([viewRule, check]);
    else add(isIncluded ? includedIn : rule, check);
  }
  // Last, because the view says what is wrong.
  for (const [viewRule, check] of shown) add(viewRule, check);
  const ruled = [...findings];
  for (const check of failed) {
    const { rule, includedIn, calls: called } = check.breach;
    if (rule !== undefined) continue;
    const [known] =
      ruled.find(([one]) => one === includedIn) ??
      ruled.find(([, { calls }]) => called !== undefined && calls.has(called)) ??
      // The service reads the views for each of its answers.
      ruled.find(([rule]) => viewRule.test(rule)) ??
      [];
    add(known ?? check.name, check);
  }
  return [...findings.values()].map(({ finding }) => finding);
}

/** The rule that a view or a field of its result is right. */
const viewRule = /\(\) (returns|has) the right value$/;

/** Functions that share most of their rules, by the names of their calls. */
const pairs: readonly (readonly [names: readonly string[], together: string])[] = [
  [["an offer", "a registration"], "a new purchase"],
  [["an opening", "a change of the bounds"], "a setting of the bounds"],
  [["an offer", "a withdrawal"], "a call of the operator"],
];

/** A rule that is broken for a pair of functions, or for three and more, has one cause: it is broken for all of them. */
function joinFunctions(failed: readonly FailedCheck[]): readonly FailedCheck[] {
  const callIn = (rule: string) => callNames.find((name) => rule.startsWith(`${name} `)) ?? "";
  const rules = new Set(failed.flatMap(({ breach: { rule } }) => (rule === undefined ? [] : [rule])));
  const broken = Map.groupBy(rules, (rule) => rule.slice(callIn(rule).length));
  const join = (text: string | undefined, rule = text) => {
    const name = callIn(rule ?? "");
    if (text === undefined || rule === undefined || name === "") return text;
    const names = broken.get(rule.slice(name.length))?.map(callIn) ?? [];
    const pair = pairs.find(([both]) => both.includes(name) && both.every((one) => names.includes(one)));
    const together = names.length > 2 ? "a call" : (pair?.[1] ?? name);
    return together + text.slice(name.length);
  };
  return failed.map(({ breach, ...check }) => ({
    ...check,
    breach: {
      ...breach,
      rule: join(breach.rule),
      mustSucceed: join(breach.mustSucceed, breach.rule),
      includedIn: join(breach.includedIn),
    },
  }));
}
