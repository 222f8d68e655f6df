import type { Breach } from "../breach.ts";
import { findCallBreach } from "../calls/call-sequence.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import {
  describeTransaction,
  digestOf,
  findDifferent,
  recordWalk,
  type WalkRecording,
} from "./record-walk.ts";
import { type Walk, walkCount, walkOf } from "./walk.ts";
import { prepareWalks, type WalkScene } from "./walk-scene.ts";

/** The number of walks that run at the same time on one Anvil: while it runs one, another is read. */
const atOnce = 2;

/** Returns a short hash of the outcomes of each walk. */
export async function recordWalks(fixture: ContractFixture): Promise<readonly string[]> {
  const scene = await prepareWalks(fixture);
  const digests: string[] = [];
  await takeWalks([scene], async (number) => {
    digests[number] = digestOf(await recordWalk(walkOf(number, scene), scene));
    return true;
  });
  return digests;
}

/** Returns the first walk that has other outcomes than expected, and a sandbox that has it; null if there is none. */
export async function findOtherWalk(
  scenes: readonly WalkScene[],
  expected: readonly string[],
): Promise<{ number: number; scene: WalkScene } | null> {
  const found: { number: number; scene: WalkScene }[] = [];
  await takeWalks(scenes, async (number, scene) => {
    const isExpected = digestOf(await recordWalk(walkOf(number, scene), scene)) === expected[number];
    if (!isExpected) found.push({ number, scene });
    return found.length === 0;
  });
  return found.toSorted((left, right) => left.number - right.number)[0] ?? null;
}

/** Takes one walk after the other, on all sandboxes at the same time, until one returns false; those before it are taken to their end. */
async function takeWalks(
  scenes: readonly WalkScene[],
  take: (number: number, scene: WalkScene) => Promise<boolean>,
): Promise<void> {
  let next = 0;
  const takeInTurn = async (scene: WalkScene) => {
    while (next < walkCount) if (!(await take(next++, scene))) next = walkCount;
  };
  await Promise.all(
    scenes.flatMap((scene) => Array.from({ length: atOnce }, async () => await takeInTurn(scene))),
  );
}

/**
 * Returns the breach that a walk shows, with the shortest sequence of its calls that does.
 *
 * @param expected - a sandbox with the sandbox's own registrar contract.
 */
export async function describeWalk(number: number, actual: WalkScene, expected: WalkScene): Promise<Breach> {
  const [own, theirs] = [walkOf(number, actual), walkOf(number, expected)];
  const runAs = (wallets: Walk["wallets"]) => async (places: readonly number[]) => {
    const [ofActual, ofExpected] = await Promise.all([
      recordWalk({ ...keep(own, places), wallets }, actual),
      recordWalk({ ...keep(theirs, places), wallets }, expected),
    ]);
    return { ofActual, ofExpected, place: findDifferent(ofActual, ofExpected) };
  };
  const run = runAs(own.wallets);
  const places = await shorten(await cut(Array.from(own.steps.keys()), run), run);
  // Of calls without contract wallets the outcome of each is known.
  const asKeys = await runAs("keys")(places);
  const { ofActual, ofExpected, place } = asKeys.place === -1 ? await run(places) : asKeys;
  const call = describeTransaction(ofActual, place, actual);
  const wanted = describeTransaction(ofExpected, place, expected);
  if (call === null || wanted === null)
    return {
      failure: `walk ${number} had other effects than on the sandbox's own contract, but not when it was repeated`,
    };
  const breach = findCallBreach(call, wanted);
  const said = describeSteps(ofActual, place);
  return breach === null
    ? { failure: `${said}: its events differ in their order` }
    : { ...breach, failure: `${said}: ${breach.failure}` };
}

type Run = (places: readonly number[]) => Promise<{ place: number }>;

function keep({ steps, wallets }: Walk, places: readonly number[]): Walk {
  return { wallets, steps: places.flatMap((place) => steps[place] ?? []) };
}

/** Ends a walk after the first difference: an outcome, or what the views show at the end. */
async function cut(places: readonly number[], run: Run): Promise<readonly number[]> {
  let [least, most] = [1, places.length];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    const { place } = await run(places.slice(0, middle));
    if (place === -1) least = middle + 1;
    else most = middle;
  }
  return places.slice(0, most);
}

/** Drops steps, from the end, as long as there is a difference. */
async function shorten(places: readonly number[], run: Run): Promise<readonly number[]> {
  let kept = places;
  for (let size = Math.ceil(kept.length / 4); size >= 1; size = size > 1 ? Math.floor(size / 2) : 0)
    for (let end = kept.length; end > 0; end -= size) {
      const rest = [...kept.slice(0, Math.max(0, end - size)), ...kept.slice(end)];
      if (rest.length > 0 && (await run(rest)).place !== -1) kept = rest;
    }
  return kept;
}

function describeSteps({ transactions }: WalkRecording, place: number): string {
  return transactions
    .slice(0, place + 1)
    .map(({ steps }) =>
      steps.map(({ name, by, second }) => `${name} by the ${by} in second ${second}`).join(" together with "),
    )
    .join("; ");
}
