/** How an operation on a file can fail: the program is killed, or the disk refuses and the program continues. */
export const faultKinds = ["killed before", "killed half way", "killed after", "ENOSPC", "EIO"] as const;

/** What is to fail. */
export interface DiskFault {
  /** The files that count are in it. */
  folder: string;
  /** Which of the operations, from 1; 0 for none. */
  at: number;
  kind: (typeof faultKinds)[number];
  /** Where to write, in the end, how many operations there were. */
  report?: string;
}
