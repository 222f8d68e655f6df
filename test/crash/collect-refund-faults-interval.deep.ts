import { faults, meetFaults } from "./fault-matrix.ts";

meetFaults(faults, "collect_refund", "interval");
