/** The limits of a pool: sandboxes, the length of a lease in seconds, and the time that a request waits for a sandbox in milliseconds. */
export const poolLimits = {
  size: 8,
  mostSize: 32,
  leaseSeconds: 60,
  mostLeaseSeconds: 3_600,
  waitMs: 10_000,
  mostWaitMs: 300_000,
} as const;
