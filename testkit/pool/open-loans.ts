import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { SandboxError } from "../../sandbox/lib/sandbox-error.ts";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { lentSandbox } from "./lent-sandbox.ts";
import { LoanTerm } from "./loan-term.ts";

/** A sandbox that a test has for as long as it runs. */
export interface Loan {
  sandbox: Sandbox;
  /** Ends the loan: from here on the sandbox refuses this borrower; resolves when what it had under way has ended. */
  end: () => Promise<void>;
}

/** Lends sandboxes to tests, each as new. */
export interface Loans {
  /** @throws SandboxError not_lent while another test has the only one. */
  lend(): Promise<Loan>;
  close(): Promise<void>;
}

interface Kept {
  sandbox: Sandbox;
  start: Snapshot;
}

/**
 * Lends one sandbox to one test after the other (`worker`), or each test its own (`test`).
 *
 * @example const loans = openLoans({ seed: "checkout" }, "worker")
 */
export function openLoans(options: SandboxOptions, scope: "worker" | "test"): Loans {
  if (scope === "test")
    return {
      async lend() {
        const sandbox = await createSandbox(options);
        return { sandbox, end: async () => await sandbox.close() };
      },
      async close() {},
    };
  let kept: Kept | null = null;
  let isLent = false;
  return {
    async lend() {
      if (isLent)
        throw new SandboxError(
          "not_lent",
          'Two tests want the sandbox of this worker at once, as with test.concurrent; give each its own: sandboxTest({ scope: "test" }).',
        );
      isLent = true;
      try {
        kept = kept === null ? await open(options) : await asNew(kept, options);
      } catch (error) {
        kept = null;
        isLent = false;
        throw error;
      }
      const term = new LoanTerm();
      return {
        sandbox: lentSandbox(kept.sandbox, term),
        async end() {
          await term.end();
          isLent = false;
        },
      };
    },
    async close() {
      await kept?.sandbox.close();
    },
  };
}

async function open(options: SandboxOptions): Promise<Kept> {
  const sandbox = await createSandbox(options);
  return { sandbox, start: await sandbox.snapshot() };
}

/** A test may have closed it, ended its chain, or taken away the block that it began with. */
async function asNew({ sandbox, start }: Kept, options: SandboxOptions): Promise<Kept> {
  try {
    await start.restore();
    return { sandbox, start };
  } catch {
    await sandbox.close().catch(() => undefined);
    return await open(options);
  }
}
