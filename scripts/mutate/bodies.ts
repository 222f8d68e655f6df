import type { MutantGroup } from "./mutant.ts";

const bodies_ = "test/server/http/request/bodies.test.ts";
const reads = "test/server/http/reads.test.ts";
const errors = "test/server/api/errors/errors.test.ts";

export const bodies: readonly MutantGroup[] = [
  {
    file: "server/http/request/read-body.ts",
    tests: [bodies_],
    mutants: [
      {
        rule: "A declared body of exactly 32 KiB is taken.",
        find: "if (declared > limit)",
        replace: "if (declared >= limit)",
      },
      {
        rule: "A body that is declared too large is refused before it is read.",
        find: "if (declared > limit) throw tooLarge(declared, limit);",
        replace: "",
      },
      {
        rule: "A chunked body is counted, too.",
        find: "if (length > limit) reject(tooLarge(length, limit));\n    else chunks",
        replace: "chunks",
      },
      {
        rule: "A body in UTF-8 alone is taken.",
        find: '(?:utf-8|"utf-8")',
        replace: "(?:[^;]+)",
      },
      {
        rule: "A content type that is sent twice is refused.",
        find: "if (more.length === 0 && /^application",
        replace: "if (/^application",
      },
      {
        rule: "A content encoding other than identity is refused.",
        find: 'encoding.toLowerCase() === "identity" && more.length === 0',
        replace: "encoding.length > 0",
      },
      {
        rule: "A client that waits for 100 Continue gets it once its headers are right.",
        find: 'if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();',
        replace: "",
      },
    ],
  },
  {
    file: "server/http/request/parse-json.ts",
    tests: [bodies_],
    mutants: [
      {
        rule: "A name that comes twice in one object is refused.",
        find: "if (names?.has(name))",
        replace: "if (names === null)",
      },
      {
        rule: "The name __proto__ is refused.",
        find: 'if (name === "__proto__")',
        replace: 'if (name === "")',
      },
      {
        rule: "A body of 64 levels is taken.",
        find: "if (open.length > maximumDepth)",
        replace: "if (open.length >= maximumDepth)",
      },
      {
        rule: "A body of 65 levels is refused.",
        find: "const maximumDepth = 64;",
        replace: "const maximumDepth = 65;",
      },
      {
        rule: "An integer above 2^53 - 1 is refused, also when a float has it.",
        find: "(!Number.isInteger(value) || Number.isSafeInteger(value)) &&",
        replace: "",
      },
      {
        rule: "A number with more digits than a float keeps is refused.",
        find: "significantDigits(token) === significantDigits(String(value))",
        replace: "token.length > 0",
      },
      {
        rule: "An unpaired surrogate is refused.",
        find: "if (text.isWellFormed()) return text;",
        replace: "if (text.length >= 0) return text;",
      },
      {
        rule: "A body that is not UTF-8 is refused.",
        find: "fatal: true",
        replace: "fatal: false",
      },
      {
        rule: "A byte order mark is no part of JSON.",
        find: "ignoreBOM: true",
        replace: "ignoreBOM: false",
      },
    ],
  },
  {
    file: "server/http/request/validate.ts",
    tests: [bodies_],
    mutants: [
      {
        rule: "An error in a field points to it, with its slashes escaped (RFC 6901).",
        find: '.replaceAll("/", "~1")',
        replace: "",
        tests: [bodies_, reads],
      },
      {
        rule: "Every unknown field is named.",
        find: 'code: "unknown_field"',
        replace: 'code: "invalid"',
      },
      {
        rule: "An error in a query points into the query.",
        find: "const at = root + issue",
        replace: "const at = issue",
        tests: [reads],
      },
    ],
  },
  {
    file: "server/http/app.ts",
    tests: [errors],
    mutants: [
      {
        rule: "No answer is kept by a cache.",
        find: '"X-Request-Id": requestId, "Cache-Control": "no-store"',
        replace: '"X-Request-Id": requestId',
      },
      {
        rule: "A method that a path does not have is refused with those that it has.",
        find: 'method === "get" ? ["GET", "HEAD"]',
        replace: 'method === "get" ? ["GET"]',
        tests: [reads],
      },
      {
        rule: "Paths are case-sensitive.",
        find: 'app.set("case sensitive routing", true);',
        replace: "",
        tests: [reads],
      },
      {
        rule: "A path with a slash at its end is another path.",
        find: 'app.set("strict routing", true);',
        replace: "",
        tests: [reads],
      },
    ],
  },
  {
    file: "server/http/answer-operation.ts",
    tests: [errors],
    mutants: [
      {
        rule: "A refused transaction is reported to the explorer.",
        find: "if (error instanceof RefusedTransaction)",
        replace: "if (error instanceof RefusedTransaction && error.status === 404)",
        tests: ["test/sandbox/hosts/explorer/data.test.ts"],
      },
      {
        rule: "The log of a request names its caller.",
        find: 'response.locals["caller"] = nameOf(caller);',
        replace: "",
        tests: ["test/server/http/log.test.ts"],
      },
      {
        rule: "A program is the one that was asked for.",
        find: "programs.find((entry) => entry.id === id)",
        replace: "programs.find((entry) => entry.id !== id)",
        tests: [reads],
      },
    ],
  },
  {
    file: "server/http/answers/to-problem.ts",
    tests: [errors],
    mutants: [
      {
        rule: "A chain that does not answer is reported as unavailable, with when to come again.",
        find: 'new Problem("rpc_unavailable", error.message, { headers, cause: error })',
        replace: 'new Problem("rpc_unavailable", error.message, { cause: error })',
        only: "rpc_unavailable",
      },
      {
        rule: "A path that is not percent-encoded is a path that is not there.",
        find: "if (error instanceof URIError)",
        replace: "if (error instanceof EvalError)",
        tests: [reads],
      },
    ],
  },
  {
    file: "server/http/request/request-id.ts",
    tests: [reads],
    mutants: [
      {
        rule: "Every answer has a request id of its own.",
        find: "digits.charAt(rest % 32)",
        replace: "digits.charAt(rest % 16)",
      },
    ],
  },
  {
    file: "server/api/schemas/refunds.ts",
    tests: ["test/server/http/hashed-inputs.test.ts"],
    mutants: [
      {
        rule: "A reason is kept as it was sent, with its outer spaces.",
        find: "reason: z.string().min(1).max(textLengths.reason)",
        replace: "reason: z.string().trim().min(1).max(textLengths.reason)",
      },
    ],
  },
  {
    file: "server/api/schemas/primitives.ts",
    tests: ["test/server/api/openapi/field-bounds.test.ts", bodies_],
    mutants: [
      {
        rule: "An address with a wrong checksum is refused.",
        find: "text === text.toLowerCase() || isAddress(text)",
        replace: "text.length === 42",
      },
      {
        rule: "An amount of zero is refused where one is needed.",
        find: 'amount !== "0"',
        replace: 'amount !== ""',
      },
      {
        rule: "An amount above 2^128 - 1 is refused.",
        find: ".refine(isAmount,",
        replace: ".refine((amount) => amount.length > 0,",
      },
      {
        rule: "A day that the calendar does not have is refused.",
        find: " && new Date(time).toISOString().slice(0, 19) === text.slice(0, 19)",
        replace: "",
      },
    ],
  },
];
