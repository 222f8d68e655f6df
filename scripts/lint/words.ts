/** Words that the docs, comments, messages and test titles do not use, and what to write instead. */
export interface Word {
  /** Its forms, each as it is written in a sentence. */
  readonly forms: readonly string[];
  /** The next word with which it is another one: "stands for" is "represents". */
  readonly before?: string;
  readonly instead: string;
}

const be = ["is", "are", "be", "was", "were", "been", "being"];

export const words: readonly Word[] = [
  { forms: ["whoever"], instead: 'name who does it: "a client that …"' },
  { forms: ["nobody"], instead: 'name what does not happen: "only X …", "no process …", "is not …"' },
  {
    forms: ["somebody", "everybody"],
    instead: 'name who it is: "a caller", "another account", "every client"',
  },
  { forms: ["anew", "as new"], instead: '"again", "fresh" or "reset"' },
  { forms: ["goes on", "go on", "going on", "went on", "gone on"], instead: '"continues"' },
  { forms: be.map((verb) => `${verb} told`), instead: '"gets", "is called with" or "is distinguished from"' },
  { forms: ["mend", "mends", "mended", "mending"], instead: '"repair" or "correct"' },
  { forms: ["beside"], instead: '"next to", "besides", "compared with" or "together with"' },
  {
    forms: ["stands", "stand", "standing", "stood"],
    before: "for",
    instead: '"is", "is on the chain", "is in force", "remains", "required confirmations" or "relies on"',
  },
  { forms: ["lent", "lend", "lends", "lending", "loan", "loans", "borrower"], instead: '"lease"' },
  {
    forms: ["another life", "one life", "new life", "life of", "brought back to life"],
    instead: '"chain epoch" or "lifecycle"',
  },
  { forms: ["saved sandbox"], instead: '"snapshot file"' },
  { forms: ["adopted dump", "outgrown"], instead: '"checkpoint" or "compaction"' },
  { forms: ["dearer"], instead: '"costs more"' },
  { forms: ["goodbye"], instead: "the protocol's own term" },
  { forms: ["not seen are"], instead: 'subject first: "… is not recorded"' },
  {
    forms: ["someone else than", "something else than", "another one than"],
    instead: '"the caller is not …", "is not …" or "differs from …"',
  },
  { forms: ["all the same"], instead: '"anyway" or "still"' },
  { forms: ["anybody"], instead: '"anyone" or "any account"' },
  { forms: ["dies", "died"], instead: '"ends", "crashes" or, for a credential, "is invalid"' },
  { forms: ["obey", "obeys", "obeyed"], instead: '"executes", "uses" or "follows"' },
  { forms: ["vouch", "vouches", "vouched"], instead: '"covers" or "checks"' },
  {
    forms: [
      "bounded registrar",
      "no registrar",
      "registrar of",
      "registrar wallet",
      "registrar's offer",
      "registrar's route",
      "registrar offer",
      "registrar offers",
      "registrar offered",
    ],
    instead: '"the program operator" for the account, "the registrar contract" for the contract',
  },
  { forms: ["outside world"], instead: 'name it: "a client", "a receiver"' },
  { forms: ["take writes", "takes writes", "took writes"], instead: '"accept writes" or "refuse writes"' },
];

/** Words that no comment or sentence starts with, because its subject would be a clause. */
export const starts: readonly Word[] = [
  { forms: ["What", "Whatever"], instead: 'a noun as the subject: "A request that …", "The type of …"' },
];

/** Words that no exported name has, because the glossary has another one for the same thing. */
export const names: readonly Word[] = [
  { forms: ["world", "stage", "stages", "staged", "testbed"], instead: '"sandbox" or "step"' },
  { forms: ["fold", "folds", "outgrown"], instead: '"checkpoint" or "compact"' },
  { forms: ["moment", "moments"], instead: '"snapshot"' },
  { forms: ["loan", "loans", "lend", "lent", "borrower"], instead: '"lease"' },
  { forms: ["seat", "sit", "sits"], instead: '"leader", "follower" or "elect"' },
  { forms: ["stand", "stands", "standing", "stood"], instead: '"current" or "onChain"' },
  { forms: ["life"], instead: '"epoch" or "lifecycle"' },
  { forms: ["endpoint", "endpoints"], instead: '"operation" or "receiver"' },
  { forms: ["admission", "admit", "enter", "alone"], instead: '"runShared" or "runExclusive"' },
  { forms: ["outlet", "outlets"], instead: '"sender" or "receiver"' },
  { forms: ["people", "somebody", "everybody", "nobody"], instead: '"labels" or "accounts"' },
  { forms: ["shown"], instead: '"view"' },
  { forms: ["patience", "patient"], instead: '"wait mode" or "receipt timeout"' },
  { forms: ["reject", "rejects", "rejected", "rejection"], instead: '"refuse" or "refusal"' },
  { forms: ["beside", "anew", "mend", "told"], instead: "the word that a sentence would have" },
  { forms: ["house", "goodbye", "honest", "liar", "story"], instead: "the field's own term" },
];
