import type { Lease } from "../pool/pool.ts";
import type { ReadTest, WatchedTest } from "./watch-test.ts";

/**
 * Ends a test: writes its trace, and ends its lease.
 *
 * @param read - reads the test, where the runner passes it to the hook that ends it.
 * @throws SandboxError not_awaited when the test would have passed, and has not awaited all of its calls.
 */
export async function endTest(lease: Lease, watched: WatchedTest, read?: ReadTest): Promise<void> {
  const forgotten = await lease.findForgotten();
  // This runs before the lease ends, because the reset deletes what the trace shows.
  const hasFailed = await watched.end({ passed: forgotten, failed: lease.findUnfinished() }, read);
  await lease.end();
  // A test that has failed may have come to no await.
  if (forgotten !== null && !hasFailed) throw forgotten;
}
