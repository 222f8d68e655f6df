import { test } from "vitest";
import { walkOnNode } from "./walk-on-node.ts";

test(
  "purchases on a node that is reorganized have each effect once, while the service is killed",
  async () =>
    await walkOnNode({ lifecycles: 200, merchants: 20, seed: Number(process.env["CRASH_SEED"] ?? 1) }),
  7_200_000,
);
