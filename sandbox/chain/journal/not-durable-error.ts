import { ChainUnavailableError } from "../../../server/chain/chain-reader.ts";
import { StoreUnavailableError } from "../../../server/store/store.ts";

/** A call has changed the chain, and the data directory has refused to keep that. */
export class NotDurableError extends StoreUnavailableError {
  constructor(options: ErrorOptions) {
    super(
      "The call has taken effect on the chain, but the data directory refuses writes: the effect is durable only after the directory accepts writes again. Free disk space or correct the permissions, and check the chain (eth_blockNumber, GET /status) before you repeat the call.",
      options,
    );
  }
}

/** The node does not answer, so that what it has made cannot be kept: not the disk's refusal, although a write fails with it. */
export class ChainUnreadError extends ChainUnavailableError {
  constructor(options: ErrorOptions) {
    super(
      "The chain does not respond, so its newest blocks cannot be written to the store's journal.",
      options,
    );
  }
}
