/** Counts requests, so that equal runs give equal request ids; part of a snapshot. */
export class RequestCounter {
  count = 0;

  /** The next request's number, from 1. */
  next(): number {
    this.count += 1;
    return this.count;
  }
}
