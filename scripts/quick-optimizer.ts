/**
 * solc's optimizer for code that is only tested: two thirds of the time of all optimizations, and code that fits on chain, also with a check
 * more (EIP-170).
 */
export const quickOptimizer = {
  enabled: true,
  runs: 1,
  details: {
    peephole: true,
    jumpdestRemover: true,
    deduplicate: true,
    inliner: true,
    constantOptimizer: true,
    cse: true,
    yul: false,
  },
};
