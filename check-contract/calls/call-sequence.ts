import type { Json } from "../../protocol/values/json.ts";
import {
  type Breach,
  breachOf,
  brokenRule,
  errorIn,
  extraEventRule,
  orderRule,
  ruleOf,
  withIncluding,
  wronglyRefused,
} from "../breach.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { throwIfSilent } from "../fixture/node-fault.ts";
import { CallRecorder, type RecordedCall } from "./call-recorder.ts";

/**
 * Calls that are sent one after the other, from the fixture's state on. Each one must have the effect on a registrar contract that it has on
 * the sandbox's own: the same outcome, revert reason, events and answers of the views.
 */
export interface CallSequence {
  name: string;
  run(recorder: CallRecorder): Promise<void>;
}

/** Sends the calls of a sequence, and returns the effect of each, up to an error. */
export async function recordSequence(
  { run }: CallSequence,
  fixture: ContractFixture,
): Promise<{ recorded: readonly RecordedCall[]; error: Breach | null }> {
  await fixture.reset();
  const recorder = new CallRecorder(fixture);
  const error = await run(recorder).then(
    () => null,
    (cause: unknown) => {
      throwIfSilent(cause);
      return breachOf(cause);
    },
  );
  return { recorded: recorder.recorded, error };
}

/** The calls that an effect describes as "succeeded" or "reverted with …", by their name in the effect. */
const calls: ReadonlyMap<string, string> = new Map([
  ["outcome", "the call"],
  ["inner call", "the call from inside the transfer"],
]);

/** Returns the first difference between the effect of a call and that of the same call of the sandbox's own contract; null when there is none. */
export function findCallBreach(actual: RecordedCall, expected: RecordedCall): Breach | null {
  // Of a call that was refused, what happens inside of it is not known.
  const known = Object.entries(expected.effect).filter(([name]) => name in actual.effect);
  const difference = findDifference(Object.fromEntries(known), actual.effect, []);
  if (difference === null) return null;
  const breach = describeBreach(difference, actual, expected);
  const [wanted, error] = difference.path[0] === "outcome" ? difference.values.map(errorIn) : [];
  if (error === undefined || error === wanted) return breach;
  return { ...breach, instead: brokenRule(expected.function, undefined, error) };
}

function describeBreach(difference: EffectDifference, actual: RecordedCall, expected: RecordedCall): Breach {
  const failure = describeDifference(difference, actual);
  const [wanted, actualError] = difference.values.map(errorIn);
  const argument = wrongArgument(difference);
  if (argument !== undefined && wanted !== undefined)
    return {
      failure,
      rule: `the argument ${argument} of the error ${wanted} has the right value`,
      includedIn: ruleOf(expected.function, wanted),
      calls: expected.function,
    };
  if (expected.breaks !== undefined && difference.path[0] === "outcome")
    return {
      failure,
      rule: expected.breaks,
      includedIn: ruleOf(expected.function, wanted ?? actualError ?? ""),
      calls: expected.function,
    };
  const isRefused = difference.path[0] === "outcome" && wanted === undefined && actualError !== undefined;
  if (isRefused) return { failure, ...wronglyRefused(expected.function, actualError) };
  // Without its permit, a payment has no approval, and goes through with a permit that the token refuses.
  const isUnpermitted = eventIn(difference.values[0]) === "Approval" && expected.function === "payWithPermit";
  const error = isUnpermitted ? "PermitRefused" : wanted;
  return {
    failure,
    ...withIncluding(ruleOfDifference(difference, expected.function), expected.function, error),
    calls: expected.function,
  };
}

/** Returns the first argument that differs, if a call was refused with the right error. */
function wrongArgument({ path, values }: EffectDifference): string | undefined {
  const [expected, actual] = values.map((value) => /^reverted with (\w+)\((.*)\)$/.exec(String(value)));
  if (path[0] !== "outcome" || !expected || !actual || expected[1] !== actual[1]) return undefined;
  const found = actual[2]?.split(", ") ?? [];
  const wrong = expected[2]?.split(", ").find((argument, index) => argument !== found[index]);
  return wrong?.split(" ")[0];
}

/** Returns the rule that a difference breaks: that of an error, or that one field or event is right. */
function ruleOfDifference(
  { path, values, event }: EffectDifference,
  functionName: string | undefined,
): string | undefined {
  const [place = "", ...fields] = path;
  const [expected, actual] = values;
  if (path.length === 1 && place === "outcome")
    return brokenRule(functionName, errorIn(expected), errorIn(actual));
  if (place === "inner call") return "a call from inside a transfer is refused";
  if (isExtraEvent(values)) return extraEventRule;
  if (isOrder(path)) return orderRule;
  const missing = [expected, actual].map(eventIn).find((name) => name !== undefined);
  if (missing !== undefined) return `the event ${missing} is emitted when it must be`;
  const field = fields.findLast((name) => !/^\d+$/.test(name));
  if (event === "Transfer" && field === "emitter") return "a call moves the token of its purchase";
  if (event !== undefined) return `the field ${field} of the event ${event} has the right value`;
  const view = place === "returned" ? `${functionName}()` : place.replace(/\(.*\)/, "()");
  return field === undefined
    ? `${view} returns the right value`
    : `the field ${field} of ${view} has the right value`;
}

function describeDifference({ path, values, event }: EffectDifference, actual: RecordedCall): string {
  const transaction = actual.hash === null ? "" : ` (${actual.hash})`;
  if (isExtraEvent(values)) return `the call must not emit ${JSON.stringify(values[1])}${transaction}`;
  if (isMissingEvent(values)) return `the call must emit the event ${eventIn(values[0])}${transaction}`;
  const [shouldBe, is] = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  if (isOrder(path)) return `the call must emit ${shouldBe} in this order; it emits ${is}${transaction}`;
  const [place = ""] = path;
  const call = path.length === 1 ? calls.get(place) : undefined;
  const field = event === undefined ? path.join(".") : `${path.slice(2).join(".")} of the event ${event}`;
  const must = call === undefined ? "must be" : "should have";
  const instead = call === undefined && !is?.startsWith("revert") ? "it is" : "it";
  return `${call ?? field} ${must} ${shouldBe ?? "missing"}; ${instead} ${is ?? "missing"}${transaction}`;
}

interface EffectDifference {
  path: readonly string[];
  values: EffectPair;
  /** The event whose field differs. */
  event?: string | undefined;
}

type EffectPair = readonly [expected: Json | undefined, actual: Json | undefined];

/** Returns the name of an event; undefined for anything else, and for an event that the interface does not declare. */
function eventIn(value: Json | undefined): string | undefined {
  const name = isTree(value) ? value["event"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function isMissingEvent([expected, actual]: EffectPair): boolean {
  return actual === undefined && eventIn(expected) !== undefined;
}

/** In the place of an event, if only the order of the events differs. */
const order = "order";

function isOrder([place, index]: readonly string[]): boolean {
  return place === "events" && index === order;
}

/** Events that are not declared have their emitter and their topics. */
function isExtraEvent([expected, actual]: EffectPair): boolean {
  return expected === undefined && isTree(actual) && "emitter" in actual;
}

/** Whether an event is the token's: a binding has the logs of each contract in their order. */
const isOfToken = (event: Json) => ["Transfer", "Approval"].includes(eventIn(event) ?? "");

/** Events whose order the interface leaves free in one order: those of the registrar contract first. */
function inOneOrder(events: readonly Json[]): Json[] {
  return [...events.filter((event) => !isOfToken(event)), ...events.filter(isOfToken)];
}

/** Whether each transfer follows its event. */
function followTheirEvents(events: readonly Json[]): boolean {
  let own = 0;
  let transfers = 0;
  return events.every((event) => {
    if (eventIn(event) === "Transfer") transfers += 1;
    else if (!isOfToken(event)) own += 1;
    return transfers <= own;
  });
}

/** Names an event by its purchase, unless it is the token's. */
function describePayment(event: Json): readonly string[] {
  return isTree(event) && !isOfToken(event) ? [`${event["event"]} of ${event["id"]}`] : [];
}

/** An event differs as a whole when it is another one; of the same one, the field that differs. */
function findDifference(
  expected: Json | undefined,
  actual: Json | undefined,
  path: readonly string[],
): EffectDifference | null {
  if (!isTree(expected) || !isTree(actual) || kindOf(expected) !== kindOf(actual))
    return expected === actual ? null : { path, values: [expected, actual] };
  if (path.length === 1 && path[0] === "events" && Array.isArray(expected) && Array.isArray(actual)) {
    const [wanted, emitted] = [inOneOrder(expected), inOneOrder(actual)];
    const names = (events: readonly Json[]) => events.map(eventIn);
    const isReordered = names(wanted).toSorted().join() === names(emitted).toSorted().join();
    if (
      isReordered &&
      (names(wanted).join() !== names(emitted).join() ||
        (followTheirEvents(expected) && !followTheirEvents(actual)))
    )
      return { path: [...path, order], values: [names(expected).join(", "), names(actual).join(", ")] };
    // Only the payments of a batch can still differ in their order, and its transfers, whose order is free.
    const [inPlace, found] = [wanted, emitted].map((all) => all.map((event) => JSON.stringify(event)));
    if (inPlace?.toSorted().join() === found?.toSorted().join()) {
      const [ids, own] = [wanted, emitted].map((all) => all.flatMap(describePayment).join(", "));
      return ids === own ? null : { path: [...path, order], values: [ids, own] };
    }
    const place = findFirstOther(wanted, emitted);
    if (emitted.length > wanted.length)
      return { path: [...path, String(place)], values: [undefined, emitted[place]] };
    if (emitted.length < wanted.length)
      return { path: [...path, String(place)], values: [wanted[place], undefined] };
    return findInTrees(Object.fromEntries(wanted.entries()), Object.fromEntries(emitted.entries()), path);
  }
  return findInTrees(expected, actual, path);
}

type Tree = { [name: string]: Json };

function findInTrees(expected: Tree, actual: Tree, path: readonly string[]): EffectDifference | null {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = findDifference(expected[name], actual[name], [...path, name]);
    if (difference !== null) return { ...difference, event: difference.event ?? eventIn(expected) };
  }
  return null;
}

/** Returns the place of the first event that is another one. Of lists with different lengths, the longer one has an event too many there. */
function findFirstOther(expected: readonly Json[], actual: readonly Json[]): number {
  return Array.from({ length: Math.max(expected.length, actual.length) }).findIndex((_, place) => {
    const [wanted, event] = [expected[place], actual[place]];
    return !isTree(wanted) || !isTree(event) || kindOf(wanted) !== kindOf(event);
  });
}

function isTree(value: Json | undefined): value is Tree {
  return typeof value === "object" && value !== null;
}

function kindOf(tree: Tree): Json | undefined {
  return tree["event"] ?? Array.isArray(tree);
}
