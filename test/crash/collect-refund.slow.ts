import { crashAt } from "./crash-series.ts";

// Points that the offer's reduced form leaves out, and the one between the relayer's last write and the API's.
crashAt(
  ["before_intent", "before_signed", "broadcast", "before_mined", "after_confirmed"],
  "collect_refund",
  "automine",
);
