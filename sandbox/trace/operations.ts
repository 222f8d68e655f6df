import { z } from "zod";
import { controlOf } from "../lib/control/operation.ts";
import { type MakeTrace, noSubject } from "./make-trace.ts";

const defineControl = controlOf<{ makeTrace: MakeTrace }>();

const readTrace = defineControl({
  id: "readTrace",
  method: "get",
  path: "/trace",
  tag: "Explorer",
  summary:
    "Returns a trace: everything that has happened since the last restore, as one HTML file that opens offline.",
  description: "`?snapshot=` is the name of a snapshot file next to it, which the trace then names.",
  page: { target: "ci.md#traces-of-failed-tests", words: "traces" },
  query: z.strictObject({ snapshot: z.string().max(255).optional() }),
  success: {
    status: 200,
    description: "The trace.",
    schema: z.string(),
    type: "text/html",
  },
  errors: ["validation_failed"],
  startsOver: true,
  cached: false,
  handle: async ({ sandbox, query: { snapshot = null }, response }) => {
    response.set("Content-Disposition", 'attachment; filename="sandbox.trace.html"');
    return await sandbox.makeTrace({ ...noSubject, snapshot });
  },
});

/** The operation that makes a trace. */
export const traceOperations = [readTrace];
