import { structuredClone } from "../../protocol/globals.ts";
import { FaultInvalidError } from "../../relayer/relayer.ts";
import { orList } from "../../server/lib/wording.ts";
import type { Fault } from "./fault.ts";
import { type FaultLayer, faultDefaults, placementsOf } from "./fault-matrix.ts";
import { type FaultEntry, writesOfSubjects } from "./fault-request.ts";

/** The faults that are set, in the order in which they act. */
export class FaultPlan {
  #faults: Fault[] = [];
  readonly #programs: readonly string[];

  /** @param programs - the ids that a fault's match can name. */
  constructor(programs: readonly string[]) {
    this.#programs = programs;
  }

  /**
   * Checks a fault and returns it as it would be set.
   *
   * @throws FaultInvalidError when it could never act.
   */
  prepare(entry: FaultEntry): Fault {
    const { layer, action, match, count = faultDefaults.count } = entry;
    const point = requirePlacement(entry);
    const { program } = match;
    if (typeof program === "string" && !this.#programs.includes(program))
      throw new FaultInvalidError(
        `The option program is ${JSON.stringify(program)}, which is not a program of this sandbox. Use ${orList(this.#programs)}.`,
      );
    const { operation, subject_id } = match;
    if (typeof operation === "string" && (subject_id ?? "") !== "" && !writesOfSubjects.includes(operation))
      throw new FaultInvalidError(
        `The option subject_id is ${JSON.stringify(subject_id)}, and the path of ${operation} has no id. Leave out the option subject_id.`,
      );
    return {
      layer,
      point,
      action,
      match: { ...match },
      ...(match["occurrence"] === undefined ? {} : { matched: 0 }),
      remaining: count,
      hits: 0,
      ...(action === "reorg" ? { depth: entry.depth ?? faultDefaults.depth } : {}),
      ...(action === "delay" ? { delay_ms: entry.delay_ms ?? faultDefaults.delay_ms } : {}),
      ...(action === "answer" ? { status: entry.status ?? faultDefaults.status } : {}),
      ...(entry.headers === undefined ? {} : { headers: entry.headers }),
      ...(entry.body === undefined ? {} : { body: entry.body }),
    };
  }

  /** Sets a fault that {@link FaultPlan.prepare} returned. */
  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  /** The faults as they are now, used-up ones included. */
  list(): Fault[] {
    return structuredClone(this.#faults);
  }

  /** Puts back what `list` gave. */
  replace(faults: readonly Fault[]): void {
    this.#faults = structuredClone([...faults]);
  }

  /**
   * Counts one hit of the first fault that acts at a point. The others only count that they have matched.
   *
   * @param subject - what is there, by the fields that a match can name.
   * @param mayAct - what else the fault has to be.
   */
  take(
    layer: FaultLayer,
    point: string,
    subject: { readonly [field: string]: string } = {},
    mayAct: (fault: Fault) => boolean = () => true,
  ): Fault | null {
    let acting: Fault | null = null;
    for (const fault of this.#faults) {
      if (fault.layer !== layer || fault.point !== point || fault.remaining === 0) continue;
      if (!mayAct(fault)) continue;
      const { occurrence, ...fields } = fault.match;
      if (!Object.entries(fields).every(([field, value]) => subject[field] === value)) continue;
      if (fault.matched !== undefined) fault.matched += 1;
      if ((fault.matched ?? 0) >= Number(occurrence ?? 0)) acting ??= fault;
    }
    if (acting === null) return null;
    acting.hits += 1;
    if (acting.remaining !== null) acting.remaining -= 1;
    return structuredClone(acting);
  }
}

/** Returns the point of a fault. */
function requirePlacement({ layer, point, action }: FaultEntry): string {
  const points = placementsOf(layer)[action] ?? [];
  const [only, ...more] = points;
  if (point === undefined && only !== undefined && more.length === 0) return only;
  if (point === undefined)
    throw new FaultInvalidError(
      `The option point is missing, and ${action} can act at several. Use ${orList(points)}.`,
    );
  if (points.includes(point)) return point;
  throw new FaultInvalidError(
    `The option point is ${JSON.stringify(point)}, where ${action} does not act. Use ${orList(points)}.`,
  );
}
