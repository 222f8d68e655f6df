/** The largest size of the responses to one request together, in bytes. */
export const largestAnswer = 64 * 1024 * 1024;
/** The largest size of all responses that are being read or that their callers have not taken yet, in bytes. */
export const mostHeld = 256 * 1024 * 1024;

/**
 * A response does not fit into memory with what is held already.
 *
 * Not a CodedError: the chain RPC answers it with the number of a JSON-RPC error.
 */
export class AnswerLimitError extends Error {}

/** Counts the bytes of responses from their arrival until their callers have taken them: each is in memory as long. */
export class HeldAnswers {
  #bytes = 0;

  /** Begins to count the responses to one request. */
  begin(): HeldAnswer {
    return new HeldAnswer((bytes) => {
      if (this.#bytes + bytes > mostHeld)
        throw new AnswerLimitError(
          `The chain RPC holds ${mostHeld} bytes of responses that their callers have not read. Read them, then send the request again.`,
        );
      this.#bytes += bytes;
    });
  }
}

/** The responses to one request. */
export class HeldAnswer {
  readonly #count: (bytes: number) => void;
  #bytes = 0;
  #isFull = false;
  #isReleased = false;

  /** @param count - counts bytes among all that are held; of fewer than none, they are no longer held. @throws AnswerLimitError */
  constructor(count: (bytes: number) => void) {
    this.#count = count;
  }

  /** Whether a response could not be held: the other calls of the request would only keep Anvil busy. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Counts bytes that have arrived. @throws AnswerLimitError when they cannot be held. */
  add(bytes: number): void {
    if (this.#isReleased) throw new AnswerLimitError("The caller is gone.");
    if (this.#bytes + bytes > largestAnswer) {
      this.#isFull = true;
      throw new AnswerLimitError(
        `The responses to one request may have ${largestAnswer} bytes together. Ask for less: fewer calls, blocks, logs or traces.`,
      );
    }
    try {
      this.#count(bytes);
    } catch (error) {
      this.#isFull = true;
      throw error;
    }
    this.#bytes += bytes;
  }

  /** Counts bytes no more that are not kept. */
  remove(bytes: number): void {
    if (this.#isReleased) return;
    this.#bytes -= bytes;
    this.#count(-bytes);
  }

  /** Counts nothing of the request any more, and takes nothing more: a call may outlast its request. Calling it again does nothing. */
  release(): void {
    this.remove(this.#bytes);
    this.#isReleased = true;
  }
}
