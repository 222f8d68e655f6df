import { z } from "zod";
import type { Part } from "../lib/part.ts";

/** Counts requests, so that equal runs give equal request ids. */
export class RequestCounter implements Part<number> {
  readonly name = "requests";
  readonly schema = z.int();
  count = 0;

  /** The next request's number, from 1. */
  next(): number {
    this.count += 1;
    return this.count;
  }

  capture(): number {
    return this.count;
  }

  restore(count: number): void {
    this.count = count;
  }
}
