import { describe } from "vitest";
import { relayerFaults as faults, meetFaults, type RelayerFault } from "./fault-matrix.ts";

// Every fault at one of its points; all points, and blocks by the second, are in the full form.
const first = faults.filter(
  ({ action }, index) => faults.findIndex((one) => one.action === action) === index,
);
const last = faults.filter(
  ({ action }, index) => faults.findLastIndex((one) => one.action === action) === index,
);
const afterwards = ({ action, point }: RelayerFault) => action === "reorg" && point === "after_confirmed";

describe("an offer", () => meetFaults([...first, ...faults.filter(afterwards)], "offer", "automine"));
describe("a refund", () => meetFaults(last, "collect_refund", "automine"));
