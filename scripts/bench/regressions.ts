import { z } from "zod";
import { figure, type Report } from "./report.ts";

/** The part of an earlier report that a run is compared with: the output of `npm run bench -- --json`. */
export const earlierReport = z.object({
  rows: z.array(
    z.object({
      benchmark: z.string(),
      subject: z.string(),
      comparedTo: z.object({ ratio: z.number(), noise: z.number() }).nullable(),
    }),
  ),
});

/**
 * Returns a sentence for each subject whose ratio is worse than in an earlier report of the same machine, by more than the noise of both.
 *
 * @example regressionsOf(report, earlierReport.parse(JSON.parse(await readFile("before.json", "utf8"))))
 */
export function regressionsOf(now: Report, before: z.infer<typeof earlierReport>): string[] {
  return now.rows.flatMap(({ benchmark, subject, unit, comparedTo }) => {
    const earlier = before.rows.find(
      (row) => row.benchmark === benchmark && row.subject === subject,
    )?.comparedTo;
    if (comparedTo === null || !earlier) return [];
    const rise = comparedTo.ratio - earlier.ratio;
    const noise = comparedTo.noise + earlier.noise;
    // Rates are better when they are larger.
    if ((unit === "per second" ? -rise : rise) <= noise) return [];
    const ratios = `${figure(comparedTo.ratio)} times ${comparedTo.subject}, and ${figure(earlier.ratio)} before`;
    return `${benchmark}, ${subject}: ${ratios} (noise of both: ${figure(noise)}).`;
  });
}
