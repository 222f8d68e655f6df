import { cpus, release, totalmem, type } from "node:os";
import { anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";

/** Describes the machine of the measurements, in one line. */
export function nameMachine(): string {
  const [cpu] = cpus();
  return [
    cpu?.model.trim() || "unknown processor",
    `${cpus().length} cores`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${type()} ${release()}`,
    `Node ${process.version}`,
    `Anvil ${anvilVersion()}`,
  ].join(", ");
}
