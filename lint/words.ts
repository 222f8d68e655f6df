/** Words that the docs, comments, messages and test titles do not use, and what to write instead. */
export interface Word {
  /** Its forms, each as it is written in a sentence. */
  readonly forms: readonly string[];
  readonly instead: string;
}

const be = ["is", "are", "be", "was", "were", "been", "being"];

export const words: readonly Word[] = [
  { forms: ["whoever"], instead: 'name who does it: "a client that …"' },
  { forms: ["nobody"], instead: 'name what does not happen: "only X …", "no process …", "is not …"' },
  { forms: ["anew", "as new"], instead: '"again", "fresh" or "reset"' },
  { forms: ["goes on", "go on", "going on", "went on", "gone on"], instead: '"continues"' },
  { forms: be.map((verb) => `${verb} told`), instead: '"gets", "is called with" or "is distinguished from"' },
  { forms: ["mend", "mends", "mended", "mending"], instead: '"repair" or "correct"' },
  { forms: ["beside"], instead: '"next to", "besides", "compared with" or "together with"' },
  { forms: ["stands on", "stand on"], instead: '"required confirmations" or "relies on"' },
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
  { forms: ["someone else than"], instead: '"the caller is not …"' },
];
