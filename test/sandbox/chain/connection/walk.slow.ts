import { test } from "vitest";
import { walkOnNode } from "./walk-on-node.ts";

test(
  "purchases on a node that is reorganized have each effect once, while the service is killed",
  async () => await walkOnNode({ lifecycles: 6, merchants: 3, seed: 1 }),
  900_000,
);
