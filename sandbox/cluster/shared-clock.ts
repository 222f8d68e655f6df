import { z } from "zod";
import { ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import type { ClockMode, SandboxClock } from "../chain/clock/clock.ts";
import { toSeconds } from "../chain/clock/duration.ts";
import { askControl, type ControlMethod } from "../service/ask-control.ts";

const answer = z.object({ now: z.int() });

/** The clock of a sandbox as a process sees it that has joined: the first process moves it and tells the time. */
export function sharedClock(
  controlUrl: string,
  mode: ClockMode,
): Pick<SandboxClock, "mode" | "now" | "travel"> {
  const ask = async (method: ControlMethod, path: string, body?: object) => {
    try {
      const response = await askControl(controlUrl, method, path, body);
      if (!response.ok) throw new Error(`The sandbox's clock responded with ${response.status}.`);
      return answer.parse(await response.json()).now;
    } catch (cause) {
      // It may end at any moment of a request.
      throw new ChainUnavailableError(
        "The first process of the sandbox does not respond, so its clock cannot be read. Send the identical request again.",
        { cause },
      );
    }
  };
  return {
    mode,
    now: async () => await ask("GET", "/status"),
    travel: async (by) =>
      await ask("POST", "/clock", { seconds: typeof by === "number" ? by : toSeconds(by) }),
  };
}
