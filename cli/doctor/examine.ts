import { findRunning } from "../running/find-running.ts";
import { examineAnvil, examineOrphans } from "./anvil.ts";
import { examineDataDirectory } from "./data-directory.ts";
import type { Examined, Finding } from "./finding.ts";
import { examineGenesis } from "./genesis.ts";
import { examineClock, examineDisk, examineNode, examinePlatform, examineProxies } from "./machine.ts";
import { examinePorts } from "./ports.ts";

/**
 * Looks at everything that has to be right for a sandbox to start on this machine; changes nothing.
 *
 * @example
 * const findings = await examine({ dataDirectory: ".sandbox", ports: { "--api-port": 4020 }, environment: process.env });
 * findings.filter(({ ok }) => !ok);
 */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { dataDirectory, ports, environment } = examined;
  // Files that it cannot read are found below.
  const running = await findRunning(dataDirectory).catch(() => null);
  return [
    examineNode(),
    examinePlatform(),
    await examineAnvil(),
    await examineOrphans(),
    await examineGenesis(),
    ...(await examineDataDirectory(dataDirectory, running)),
    await examineDisk(dataDirectory),
    await examineClock(dataDirectory),
    examineProxies(environment),
    ...(await examinePorts(ports, running)),
  ];
}
