import { toChainTimestamp } from "../../protocol/values/time.ts";

const addresses = /\b0x[0-9a-fA-F]{40}\b/g;

/** Unix seconds after the word that says that they are a time. */
const seconds = /(?<=\b(?:timestamp|\w*[dD]eadline|validUntil|mined at) \(?)\d{10}\b/g;

/**
 * Adds what a person reads to a sentence: its label to each address, and the date to each time in Unix seconds.
 *
 * @example annotate("DeadlinePassed(deadline 1767225600)", {}) // "DeadlinePassed(deadline 1767225600 (2026-01-01T00:00:00Z))"
 */
export function annotate(text: string, labels: { [address: string]: string }): string {
  return text
    .replaceAll(addresses, (address) => {
      const label = labels[address.toLowerCase()];
      return label === undefined ? address : `${address} (${label})`;
    })
    .replaceAll(seconds, (time) => `${time} (${toChainTimestamp(Number(time))})`);
}
