import { failDisk } from "./series.ts";

failDisk({
  title: "a compaction while an offer is made, and a stop",
  before: ["offer"],
  steps: ["grow", "offer", "balance"],
});
