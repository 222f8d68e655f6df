/** A directory store with more and more purchases, compared with one that has 1,000. */
import { purchasesCurve } from "./curve.ts";
import { openCurve } from "./store-curve.ts";

/** The benchmark `purchases`. */
export const benchmark = await openCurve(purchasesCurve, 3);
