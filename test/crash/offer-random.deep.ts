import { killAtRandom } from "./random-series.ts";

killAtRandom("offer", 100, Number(process.env["CRASH_SEED"] ?? 1));
