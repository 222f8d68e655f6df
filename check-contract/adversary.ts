import { join } from "node:path";
import { type Artifact, readArtifact } from "../sandbox/chain/registrar/artifact.ts";
import { packageRoot } from "../sandbox/lib/package-root.ts";

/** Reads an adversary of this package: a contract that attacks. */
export async function readAdversary(source: string, name = source): Promise<Artifact> {
  return await readArtifact(
    join(packageRoot(), "artifacts", "contracts", "adversaries", `${source}.sol`, `${name}.json`),
  );
}
