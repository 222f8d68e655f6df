import type { Hex } from "viem";
import type { BindingReport } from "../../protocol/binding/check-binding.ts";
import type { Json } from "../../protocol/values/json.ts";
import type { ErrorCode } from "./catalogue.ts";
import { Problem } from "./problem.ts";

/** A refused transaction, and the reason. */
interface Refused {
  transactionHash: Hex;
  step: string;
  report: BindingReport;
  /** The address of the explanation of the transaction. */
  explain: string;
  members?: { [name: string]: Json };
  headers?: { [name: string]: string };
  /** By default the value that the code has. */
  retryable?: boolean;
  hadEffect?: boolean;
}

/** A problem about a transaction that a step did not accept, with the report that led to it. */
export class RefusedTransaction extends Problem {
  readonly transactionHash: Hex;
  readonly step: string;
  readonly report: BindingReport;
  readonly #refused: Refused;

  constructor(code: ErrorCode, detail: string, refused: Refused) {
    const {
      transactionHash,
      step,
      report,
      explain,
      members,
      headers = {},
      retryable,
      hadEffect = false,
    } = refused;
    const binding = { accepted: report.accepted, checks: report.checks.map((check) => ({ ...check })) };
    super(code, detail, {
      members: { transaction_hash: transactionHash, explain, binding, ...members },
      headers,
      hadEffect,
      ...(retryable === undefined ? {} : { retryable }),
    });
    this.transactionHash = transactionHash;
    this.step = step;
    this.report = report;
    this.#refused = refused;
  }

  /** The same refusal, with what its step knows of the cause. */
  because(detail: string, retryable: boolean): RefusedTransaction {
    return new RefusedTransaction(this.code, detail, { ...this.#refused, retryable });
  }

  override afterEffect(): RefusedTransaction {
    return new RefusedTransaction(this.code, this.message, { ...this.#refused, hadEffect: true });
  }
}
