// Imported first by the entries of the package: on an older Node, what they load fails with an error that says nothing of its cause.
import { explainOldNode } from "./node-version.ts";

const refusal = explainOldNode();
if (refusal !== null) throw new Error(refusal);
