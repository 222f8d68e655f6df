import { crashAt } from "./crash-series.ts";

// One point in each stretch between two writes; all points are in the full form.
crashAt(["after_intent", "after_signed", "sent", "after_mined", "after_confirmed"], "offer", "automine");
