// Imported first by the entries of the package: without what Node has, the package fails to load with an error that says nothing of its cause.
import { explainMissingGlobals } from "./missing-globals.ts";
import { explainOldNode } from "./node-version.ts";

const refusal = explainOldNode() ?? explainMissingGlobals();
if (refusal !== null) throw new Error(refusal);
