import type { CallSequence } from "./call-sequence.ts";
import { callEveryFunction } from "./every-function.ts";

/** In seconds. */
const years = 40n * 365n * 86_400n;

/** Calls of every function decades after those that they depend on: no period ends by itself but those of the interface. The beneficiary has no ETH. */
export const laterCalls: CallSequence = {
  name: "years later",
  async run(recorder) {
    const now = await recorder.now();
    const groups = await callEveryFunction(recorder, now, now + 5n * years);
    await recorder.simulate(
      groups.flatMap((group, decades) =>
        group.map(([rule, actor, call]) => ({
          rule: `decades after the calls before it, ${rule}`,
          actor,
          call,
          timestamp: now + BigInt(decades) * years,
        })),
      ),
      { [recorder.fixture.address("beneficiary")]: { balance: "0x0" } },
    );
  },
};
