import { faultPoints } from "../../relayer/relayer.ts";
import { crashAt } from "./crash-series.ts";

crashAt(faultPoints, "offer", "interval");
