import { failDisk } from "./series.ts";

failDisk(
  {
    title: "a start, an offer, a snapshot, a restore and a stop",
    steps: ["offer", "snapshot", "blocks", "restore", "blocks"],
  },
  5,
);
