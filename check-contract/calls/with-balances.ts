import { encodeFunctionData } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import type { CallSequence } from "./call-sequence.ts";
import { between, callEveryFunction } from "./every-function.ts";

/** Calls of every function while the contracts hold tokens and ETH, which anyone can send them: the ETH from a contract that destroys itself. */
export const callsWithBalances: CallSequence = {
  name: "tokens and ETH of the contracts",
  async run(recorder) {
    const { fixture } = recorder;
    const now = await recorder.now();
    const timestamp = now + 1n;
    const groups = await callEveryFunction(recorder, now, now + 10_000n);
    const contracts = [recorder.registrar, fixture.contracts.funding_source];
    await recorder.simulate(
      [
        ...contracts.map((contract) => {
          const args = [contract, 1n] as const;
          const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "faucet", args });
          return {
            rule: null,
            actor: "stranger",
            call: { to: fixture.contracts.token, data },
            timestamp,
          } as const;
        }),
        ...groups.flatMap((group, index) =>
          group.map(([rule, actor, call]) => ({
            rule: `${rule} while the contracts hold tokens and ETH`,
            breaks: "tokens and ETH that anyone sends to the contracts block no call",
            actor,
            call,
            timestamp: timestamp + BigInt(index) * between,
          })),
        ),
      ],
      Object.fromEntries(contracts.map((contract) => [contract, { balance: "0x1" }])),
    );
  },
};
