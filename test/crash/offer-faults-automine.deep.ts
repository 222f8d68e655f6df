import { meetFaults, relayerFaults } from "./fault-matrix.ts";

meetFaults(relayerFaults, "offer", "automine");
