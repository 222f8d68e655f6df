/** A directory store with a million purchases, compared with one that has 1,000. It runs only if it is named. */
import { millionCurve } from "./curve.ts";
import { openCurve } from "./store-curve.ts";

/** The benchmark `million`. */
export const benchmark = await openCurve(millionCurve, 1);
