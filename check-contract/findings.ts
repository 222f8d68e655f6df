import { type Breach, callNames, followsFrom, viewRule } from "./breach.ts";
import { noSigner } from "./rules/signers.ts";

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
  checks: {
    suite: string;
    name: string;
    /** The rule that the check itself shows to be broken, if it is another one: it may be broken for the same reason, or for one of its own. */
    rule?: string;
  }[];
}

/**
 * Groups failed checks by the rule that is broken, or by the value in a view that shows why it is broken. A check that names no rule belongs to the
 * finding that includes it, or to the first one with the function that it called last; if there is none, to that of a view; if no view is wrong, it is
 * a finding of its own.
 */
export function groupFindings(checks: readonly FailedCheck[]): Finding[] {
  const failed = joinFunctions(checks);
  const ownRules = new Set(
    failed.flatMap(({ breach: { rule = [], includedIn } }) => (includedIn === undefined ? rule : [])),
  );
  const broken = new Set([
    ...ownRules,
    ...failed.flatMap(({ breach: { rule = [], includedIn = "" } }) => (ownRules.has(includedIn) ? [] : rule)),
  ]);
  const refused = new Set(failed.flatMap(({ breach: { rule, mustSucceed } }) => (mustSucceed && rule) ?? []));
  const groups = new Map<string, JoinedCheck[]>();
  const add = (rule: string, check: JoinedCheck) => groups.set(rule, [...(groups.get(rule) ?? []), check]);
  for (const check of failed) {
    const { rule, includedIn, instead, isStep } = check.breach;
    if (rule === undefined) continue;
    const including = includedIn !== undefined && broken.has(includedIn) ? includedIn : rule;
    // A wrong call whose correct form is refused as well shows nothing about its own rule.
    const first = instead !== undefined && refused.has(instead) ? instead : including;
    add(causeOf(first, broken, isStep), check);
  }
  const ruled = [...groups];
  for (const check of failed) {
    const { rule, includedIn, calls: called } = check.breach;
    if (rule !== undefined) continue;
    const [known] =
      ruled.find(([one]) => one === includedIn) ??
      ruled.find(([, same]) => called !== undefined && same.some(({ breach }) => breach.calls === called)) ??
      // The service reads the views for each of its answers.
      ruled.find(([one]) => viewRule.test(one)) ??
      [];
    add(known ?? check.name, check);
  }
  return [...groups].map(([rule, same]) => toFinding(rule, same));
}

/**
 * Returns the broken rule that says why another one is broken, or the rule itself.
 *
 * @param isStep - whether what starts from the step could not show a wrong view: then an event says why, too.
 */
function causeOf(rule: string, broken: ReadonlySet<string>, isStep = false): string {
  if (rule.startsWith(`${noSigner}: `)) {
    // A form that counts with a signer also counts without one.
    const withSigner = `${rule.slice(`${noSigner}: `.length)} is refused`;
    return broken.has(withSigner) ? withSigner : noSigner;
  }
  const shown = [...broken].filter((one) => followsFrom(rule, one));
  const cause = shown.find((one) => !one.includes(" of the event ")) ?? (isStep ? shown[0] : undefined);
  return cause === undefined ? rule : causeOf(cause, broken);
}

/**
 * The checks that show the rule itself come first, and of those a call that is refused: it shows more than one that is refused for another reason.
 * Last are steps that other checks start from.
 */
function toFinding(rule: string, checks: readonly JoinedCheck[]): Finding {
  const rank = ({ breach }: JoinedCheck) =>
    (breach.rule === rule ? 0 : 4) + (breach.mustSucceed === undefined ? 2 : 0) + (breach.isStep ? 1 : 0);
  const sorted = checks.toSorted((left, right) => rank(left) - rank(right));
  const named = sorted[0]?.breach.mustSucceed ?? rule;
  return {
    rule: named,
    failure: sorted[0]?.breach.failure ?? "",
    checks: sorted.map(({ suite, name, shows }) => ({
      suite,
      name,
      ...(shows === undefined || shows === named ? {} : { rule: shows }),
    })),
  };
}

/** Functions that share most of their rules, by the names of their calls. */
const pairs: readonly (readonly [names: readonly string[], together: string])[] = [
  [["an offer", "a registration"], "a new purchase"],
  [["an opening", "a change of the bounds"], "a setting of the bounds"],
  [["an offer", "a withdrawal"], "a call of the operator"],
  [["a withdrawal", "an expiry"], "a closing"],
];

/** A failed check whose rule may be that of several functions. */
interface JoinedCheck extends FailedCheck {
  /** The rule that the check itself shows to be broken. */
  shows: string | undefined;
}

/** A rule that is broken for a pair of functions, or for three and more, has one cause: it is broken for all of them. */
function joinFunctions(failed: readonly FailedCheck[]): readonly JoinedCheck[] {
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
    shows: breach.mustSucceed ?? breach.rule,
    breach: {
      ...breach,
      rule: join(breach.rule),
      mustSucceed: join(breach.mustSucceed, breach.rule),
      includedIn: join(breach.includedIn),
      instead: join(breach.instead),
    },
  }));
}
