/** The failures of an operation on a file: the program is killed, or the disk refuses and the program continues. */
export const faultKinds = ["killed before", "killed half way", "killed after", "ENOSPC", "EIO"] as const;

/** A failure to inject. */
export interface DiskFault {
  /** The files that count are in it. */
  folder: string;
  /** Which of the operations, from 1; 0 for none. */
  at: number;
  kind: (typeof faultKinds)[number];
  /** The file that the number of operations is written to in the end. */
  report?: string;
}
