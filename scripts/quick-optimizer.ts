/** solc's optimizer for code that is only tested: a quarter of the time of all optimizations, and code that still fits on chain. */
export const quickOptimizer = {
  enabled: true,
  details: {
    peephole: true,
    jumpdestRemover: true,
    deduplicate: true,
    inliner: true,
    constantOptimizer: true,
    cse: false,
    yul: false,
  },
};
