/**
 * Returns the name of the snapshot file next to a trace.
 *
 * @example snapshotOf("checkout.trace.html") // "checkout.snapshot"
 */
export function snapshotOf(file: string): string {
  return `${file.replace(/(?:\.trace)?\.html$/, "")}.snapshot`;
}
