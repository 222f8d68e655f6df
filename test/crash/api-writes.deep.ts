import { writes } from "../sandbox/faults/writes.ts";
import { crashAtWrites } from "./api-writes.ts";

// A repeat of issueAccess, which takes no key, issues another credential.
crashAtWrites(Object.keys(writes).filter((operation) => operation !== "issueAccess"));
