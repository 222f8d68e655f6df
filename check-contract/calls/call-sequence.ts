import { messageOf } from "../../protocol/coded-error.ts";
import type { Json } from "../../protocol/values/json.ts";
import { type Breach, brokenRule, errorIn, wronglyRefused } from "../breach.ts";
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
): Promise<{ recorded: readonly RecordedCall[]; error: string | null }> {
  await fixture.reset();
  const recorder = new CallRecorder(fixture);
  const error = await run(recorder).then(
    () => null,
    (cause: unknown) => {
      throwIfSilent(cause);
      return messageOf(cause);
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
  const difference = findDifference(expected.effect, actual.effect, []);
  if (difference === null) return null;
  const failure = describeDifference(difference, actual);
  const [wanted, actualError] = difference.values.map(errorIn);
  const isRefused = difference.path[0] === "outcome" && wanted === undefined && actualError !== undefined;
  if (isRefused) return { failure, ...wronglyRefused(expected.function, actualError) };
  return { failure, rule: ruleOfDifference(difference, expected.function), calls: expected.function };
}

/** Returns the rule that a difference breaks: that of an error, or that one field or event is right. */
function ruleOfDifference(
  { path, values }: EffectDifference,
  functionName: string | undefined,
): string | undefined {
  const [place = ""] = path;
  if (path.length === 1 && place === "outcome") {
    const [expected, actual] = values.map(errorIn);
    return brokenRule(functionName, expected, actual);
  }
  if (place === "inner call") return "a call from inside a transfer is refused";
  const [expected, actual] = values;
  const event = [expected, actual].find((value) => isTree(value) && "event" in value);
  if (isTree(event)) return `the event ${event["event"]} is emitted when it must be`;
  const field = path.findLast((name) => !/^\d+$/.test(name)) ?? "";
  return `${field.replace(/\(.*/, "")} has the right value`;
}

function describeDifference({ path, values }: EffectDifference, actual: RecordedCall): string {
  const transaction = actual.hash === null ? "" : ` (${actual.hash})`;
  const [shouldBe, is] = isMissingEvent(values)
    ? [`the event ${kindOf(values[0])}`, undefined]
    : values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  const [place = ""] = path;
  const call = path.length === 1 ? calls.get(place) : undefined;
  const subject = call ?? path.join(".");
  const [must, instead] = call === undefined ? ["must be", "it is"] : ["should have", "it"];
  return `${subject} ${must} ${shouldBe ?? "missing"}; ${instead} ${is ?? "missing"}${transaction}`;
}

interface EffectDifference {
  path: readonly string[];
  values: EffectPair;
}

type EffectPair = readonly [expected: Json | undefined, actual: Json | undefined];

function isMissingEvent(values: EffectPair): values is readonly [{ [name: string]: Json }, undefined] {
  const [expected, actual] = values;
  return actual === undefined && isTree(expected) && typeof expected["event"] === "string";
}

/** An event differs as a whole when it is another one; of the same one, the field that differs. */
function findDifference(
  expected: Json | undefined,
  actual: Json | undefined,
  path: readonly string[],
): EffectDifference | null {
  if (!isTree(expected) || !isTree(actual) || kindOf(expected) !== kindOf(actual))
    return expected === actual ? null : { path, values: [expected, actual] };
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = findDifference(expected[name], actual[name], [...path, name]);
    if (difference !== null) return difference;
  }
  return null;
}

function isTree(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null;
}

function kindOf(tree: { [name: string]: Json }): Json | undefined {
  return tree["event"] ?? Array.isArray(tree);
}
