import { concatHex, encodeFunctionData, type Hex } from "viem";
import { fundingSourceAbi } from "../../protocol/abi.generated.ts";
import type { SimulatedStep } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

/** Calls of the funding source that no transaction can make: the registrar contract draws with canonical calldata only. */
export const drawCalls: CallSequence = {
  name: "draws",
  async run(recorder) {
    const { fixture } = recorder;
    const { funding_source: to, token } = fixture.contracts;
    const timestamp = (await recorder.now()) + 1n;
    const args = [token, fixture.address("merchant"), fixture.address("beneficiary"), 1n] as const;
    const draw = encodeFunctionData({ abi: fundingSourceAbi, functionName: "draw", args });
    const step = (rule: string, data: Hex): SimulatedStep => ({
      rule,
      actor: "registrar contract",
      call: { to, data },
      errors: ["NonCanonicalLength", "NonCanonicalEncoding"],
      timestamp,
    });
    await recorder.simulate([
      step("the registrar contract draws from the funding source", draw),
      step("a draw with a byte after its calldata is refused", concatHex([draw, "0x00"])),
      step("a draw with a word after its calldata is refused", concatHex([draw, `0x${"00".repeat(32)}`])),
    ]);
  },
};
