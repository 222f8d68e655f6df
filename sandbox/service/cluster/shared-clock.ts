import { z } from "zod";
import type { ClockMode, SandboxClock } from "../../chain/clock/clock.ts";
import { toSeconds } from "../../chain/clock/duration.ts";

const answer = z.object({ now: z.int() });

/** The clock of a sandbox as a process sees it that has joined: the first process moves it and tells the time. */
export function sharedClock(
  controlUrl: string,
  mode: ClockMode,
): Pick<SandboxClock, "mode" | "now" | "travel"> {
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(new URL(path, controlUrl), init);
    if (!response.ok) throw new Error(`The sandbox's clock answered ${response.status}.`);
    return answer.parse(await response.json()).now;
  };
  return {
    mode,
    now: async () => await ask("/status"),
    travel: async (by) =>
      await ask("/clock", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ seconds: typeof by === "number" ? by : toSeconds(by) }),
      }),
  };
}
