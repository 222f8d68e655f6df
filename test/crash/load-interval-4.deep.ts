import { killUnderLoad } from "./load-series.ts";

killUnderLoad("interval", 50, Number(process.env["CRASH_SEED"] ?? 4));
