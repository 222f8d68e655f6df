import { z } from "zod";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import { validate } from "../../server/http/request/validate.ts";
import { requireRunning } from "../running/call-control.ts";
import { traceRunning } from "../running/trace-running.ts";
import { inputSchema, type Tool } from "./tool.ts";

const traceInput = z.strictObject({
  file: z.string().min(1).meta({ description: "The HTML file to write, such as checkout.trace.html." }),
});

const searchInput = z.strictObject({
  words: z
    .string()
    .trim()
    .min(1)
    .meta({ description: "Words that the section must have, such as an error code." }),
});

/** The number of sections that a search returns. */
const foundMost = 5;

const sections = z.array(
  z.object({ document: z.string(), url: z.string(), heading: z.string(), text: z.string() }),
);

/** The tools that write a trace and search the documentation of the sandbox in a data directory. */
export function otherTools(dataDirectory: string): Tool[] {
  return [
    {
      name: "trace",
      description:
        "Writes everything that has happened since the last restore to an HTML file that opens offline, with a snapshot file next to it.",
      input: inputSchema(traceInput),
      async call(given) {
        const { file } = validate(traceInput, given, "");
        return JSON.stringify(await traceRunning(dataDirectory, file));
      },
    },
    {
      name: "documentation",
      description: `Searches the documentation: returns the ${foundMost} best sections that have all words, with their text.`,
      input: inputSchema(searchInput),
      async call(given) {
        const { words } = validate(searchInput, given, "");
        const { urls } = await requireRunning(dataDirectory);
        const answer = await fetchDirect(
          `${urls.docs}/docs/search.json?${new URLSearchParams({ q: words })}`,
        );
        const found = sections.parse(await answer.json()).slice(0, foundMost);
        if (found.length === 0)
          throw new Error(`No section has "${words}". Try one word of it, or an error code.`);
        return JSON.stringify(found.map((section) => ({ ...section, url: urls.docs + section.url })));
      },
    },
  ];
}
