import { killUnderLoad } from "./load-series.ts";

killUnderLoad("automine", 50, Number(process.env["CRASH_SEED"] ?? 1));
