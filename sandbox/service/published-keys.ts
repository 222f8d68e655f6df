import { Mutex } from "async-mutex";
import { type KeyRing, type KeyUse, keyUses } from "../../server/keys/key-ring.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SandboxDescription } from "../options/description.ts";
import { describeRotating } from "./describe-sandbox.ts";
import type { SandboxKeys } from "./keys.ts";
import { publishProcess, type SandboxProcess } from "./start-service.ts";

/** The keys and the receiver in a sandbox's description, which always shows the current ones. */
export interface PublishedKeys {
  /** Gives these uses, or all, new keys; none when the description cannot be written. @throws StoreUnavailableError */
  rotate(...uses: KeyUse[]): Promise<void>;
  /** Pins another receiver; none when the description cannot be written. @throws SandboxError, StoreUnavailableError */
  pinReceiver(url: string): Promise<void>;
  /** Describes the keys and the receiver of now. @returns whether they differ from what was described. */
  describe(): Promise<boolean>;
  /** Describes the keys and the receiver of now, after whatever may have changed them, and publishes them if they differ. */
  refresh(): Promise<void>;
}

/** @param republish - writes the description where scripts read it. */
export function publishKeys(
  description: SandboxDescription,
  process: SandboxProcess,
  { keyRing, keys }: { keyRing: KeyRing; keys: SandboxKeys },
  republish: (description: SandboxDescription) => Promise<void>,
): PublishedKeys {
  const { cluster, receiver: pin } = process;
  // The files of the description are replaced by one writer at a time.
  const turns = new Mutex();
  const describe = async () => {
    const { reviewer, receiver } = description;
    const now = await describeRotating(keyRing, keys.accounts, pin.url);
    if (
      now.receiver.hmac_secret === receiver.hmac_secret &&
      now.receiver.url === receiver.url &&
      now.reviewer.key_id === reviewer.key_id
    )
      return false;
    Object.assign(description, now);
    return true;
  };
  const refreshNow = async () => {
    if (await describe()) await republish(description);
  };
  const refresh = async () => await turns.runExclusive(refreshNow);
  return {
    describe,
    refresh,
    async pinReceiver(url) {
      await cluster.runAsOnlyProcess(async () => {
        await turns.runExclusive(async () => {
          // A receiver that cannot be published is not pinned.
          await republish(description);
          await pin.pin(url);
          await refreshNow();
        });
        await publishProcess(process);
      });
    },
    async rotate(...uses) {
      for (const use of uses)
        if (!keyUses.includes(use))
          throw new SandboxError(
            "argument_invalid",
            `rotateKeys has no use ${JSON.stringify(use)}. Use ${keyUses.join(", ")}.`,
          );
      await turns.runExclusive(async () => {
        // Keys that cannot be published are not rotated: who reads the description would verify with the old ones.
        await republish(description);
        for (const use of uses.length === 0 ? keyUses : uses) await keyRing.rotate(use);
        await refreshNow();
      });
    },
  };
}
