import { failDisk } from "./series.ts";

failDisk({
  title: "a resume, an offer, a snapshot file, a refund and a stop",
  before: ["offer", "blocks"],
  steps: ["offer", "save", "refund", "blocks"],
});
