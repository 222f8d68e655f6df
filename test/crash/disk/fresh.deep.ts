import { failDisk } from "./series.ts";

failDisk({
  title: "a fresh start in the place of another sandbox, an offer and a stop",
  before: ["offer", "blocks"],
  steps: ["offer"],
  fresh: true,
});
