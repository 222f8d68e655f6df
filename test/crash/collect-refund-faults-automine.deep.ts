import { meetFaults, relayerFaults } from "./fault-matrix.ts";

meetFaults(relayerFaults, "collect_refund", "automine");
