import type { Hex } from "viem";
import type { BindingReport } from "../../protocol/binding/check-binding.ts";
import type { Json } from "../../protocol/json.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { Problem } from "../errors/problem.ts";

/** A problem about a transaction that a step did not accept, with the report that led to it. */
export class RefusedTransaction extends Problem {
  readonly transactionHash: Hex;
  readonly step: string;
  readonly report: BindingReport;

  constructor(
    code: ErrorCode,
    detail: string,
    refused: {
      transactionHash: Hex;
      step: string;
      report: BindingReport;
      /** Where the transaction is explained. */
      explain: string;
      members?: { [name: string]: Json };
      headers?: { [name: string]: string };
    },
  ) {
    const { transactionHash, step, report, explain, members, headers = {} } = refused;
    const binding = { accepted: report.accepted, checks: report.checks.map((check) => ({ ...check })) };
    super(code, detail, {
      members: { transaction_hash: transactionHash, explain, binding, ...members },
      headers,
    });
    this.transactionHash = transactionHash;
    this.step = step;
    this.report = report;
  }
}
