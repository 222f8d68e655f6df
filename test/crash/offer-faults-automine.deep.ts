import { faults, meetFaults } from "./fault-matrix.ts";

meetFaults(faults, "offer", "automine");
