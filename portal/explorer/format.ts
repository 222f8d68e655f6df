import { formatUnits, noBreak, type Token } from "../amounts/format-amount.ts";

/** The facts of the sandbox that formats need. */
export interface Measure extends Token {
  /** Sandbox time in milliseconds. */
  now: number;
  /** The labels of known accounts and contracts, by address in lower case. */
  labels: { readonly [address: string]: string };
}

/** A whole number with separators. */
export function formatCount(count: string): string {
  return formatUnits(count, 0, 0);
}

/** Wei as ether, with as many digits as say something. */
export function formatWei(wei: string): string {
  const text = formatUnits(wei, 18, 0);
  const [whole = "0", fraction = ""] = text.split(".");
  const shown = fraction.replace(/^(0*\d{0,4}).*$/, "$1").replace(/0+$/, "");
  return `${whole}${shown && `.${shown}`}${noBreak}ETH`;
}

/** Returns a share of a whole in percent, from 0 to 100. */
export function percent(part: string, whole: string): number {
  const total = BigInt(whole);
  if (total <= 0n) return 0;
  return Math.min(100, Math.max(0, Number((BigInt(part) * 10_000n) / total) / 100));
}

const absolute = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "medium",
  timeZone: "UTC",
});
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const units = [
  ["year", 31_536_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formats a time in words, in UTC. */
export function formatTime(text: string): string {
  return absolute.format(new Date(text));
}

/** Formats the distance of a time from sandbox time. */
export function formatDistance(text: string, now: number): string {
  const seconds = Math.round((Date.parse(text) - now) / 1_000);
  if (seconds === 0) return "now";
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return relative.format(seconds, "second");
}

/** A hash, an address or an id by its ends. */
export function shortenId(text: string): string {
  return text.length <= 20 ? text : `${text.slice(0, 10)}…${text.slice(-6)}`;
}

/** A name from the code in words: `needs_attention` is "needs attention". */
export function nameInWords(name: string): string {
  return name.replaceAll("_", " ");
}
