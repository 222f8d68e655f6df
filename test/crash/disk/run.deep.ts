import { failDisk } from "./series.ts";

failDisk({
  title: "a start, offers, calls, a snapshot, a restore and a stop",
  steps: ["offer", "balance", "snapshot", "blocks", "offer", "restore", "blocks", "balance"],
});
