import { killUnderLoad } from "./load-series.ts";

killUnderLoad("automine", 3, 1);
