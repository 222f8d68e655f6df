import { concatHex, encodeFunctionData, type Hex, pad } from "viem";
import { fundingSourceAbi } from "../../protocol/abi.generated.ts";
import { codeWith } from "../rules/signers.ts";
import type { SimulatedStep } from "./call-recorder.ts";
import type { CallSequence } from "./call-sequence.ts";

/** Draws by contracts, which send no transaction: by the registrar contract, which draws with canonical calldata only, and by its imitations. */
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
    const own = (await fixture.client.getCode({ address: recorder.registrar })) ?? "0x";
    for (const [what, code] of [
      ["answers every call with the funding source", codeWith(pad(to))],
      ["answers every call with the registrar contract", codeWith(pad(recorder.registrar))],
      ["answers every call with true", codeWith(pad("0x01"))],
      ["has the registrar contract's code", own],
    ] as const)
      await recorder.simulate(
        [
          {
            rule: `a draw by a contract that ${what} is refused`,
            function: "draw",
            breaks: "only the registrar contract draws from the funding source",
            actor: "stranger",
            call: { to, data: draw },
            timestamp,
          },
        ],
        { [fixture.address("stranger")]: { code } },
      );
  },
};
