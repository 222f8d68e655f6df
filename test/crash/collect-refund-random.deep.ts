import { killAtRandom } from "./random-series.ts";

killAtRandom("collect_refund", 100, Number(process.env["CRASH_SEED"] ?? 1));
