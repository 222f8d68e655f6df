import type { TraceFiles } from "../../sandbox/trace/write-trace.ts";
import { fetchControl } from "./call-control.ts";

/**
 * Writes a trace of the sandbox that runs in a data directory, and its snapshot file.
 *
 * @throws SandboxError trace_refused when the trace cannot be written; as fetchControl does.
 */
export async function traceRunning(dataDirectory: string, file: string): Promise<TraceFiles> {
  const { writeTrace } = await import("../../sandbox/trace/write-trace.ts");
  return await writeTrace(file, {
    encodeSnapshot: async () =>
      new Uint8Array(await (await fetchControl(dataDirectory, "GET", "/snapshot")).arrayBuffer()),
    makeTrace: async ({ snapshot }) => {
      const query = snapshot === null ? "" : `?${new URLSearchParams({ snapshot })}`;
      return await (await fetchControl(dataDirectory, "GET", `/trace${query}`)).text();
    },
  });
}
