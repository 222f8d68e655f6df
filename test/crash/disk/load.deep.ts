import { failDisk } from "./series.ts";

failDisk({
  title: "a load in the place of another sandbox, an offer and a stop",
  before: ["offer", "blocks"],
  steps: ["offer"],
  load: true,
});
