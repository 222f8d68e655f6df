import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import type { NodeFaultError } from "../../check-contract/fixture/node-fault.ts";
import type { InstallationError } from "../../check-contract/install-registrar.ts";
import { stateValues } from "../../check-contract/rules/state.ts";
import { addNetworkOptions } from "../../cli/network-options.ts";
import type { RelayerErrorCode } from "../../relayer/errors.ts";
import type { AnvilErrorCode } from "../../sandbox/chain/anvil/anvil-error.ts";
import type { ClockError } from "../../sandbox/chain/clock/duration.ts";
import type { GenesisErrorCode } from "../../sandbox/chain/genesis/genesis-error.ts";
import type { RetryLimitError } from "../../sandbox/client/retrying-fetch.ts";
import type { DescribedOperation } from "../../sandbox/control/describe-operations.ts";
import { controlOperations } from "../../sandbox/control/table.ts";
import { signatureMistakes } from "../../sandbox/explain/signatures/mistakes.ts";
import type { GivenInvalidError } from "../../sandbox/given/given-invalid-error.ts";
import { controlTags } from "../../sandbox/lib/control/operation.ts";
import { sandboxErrors } from "../../sandbox/lib/errors/sandbox-error.ts";
import { withoutWrappers } from "../../sandbox/lib/option-schemas.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { flaggedOptions, sandboxOptions } from "../../sandbox/options/options.ts";
import type { ChainMismatchError, ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import { defaultUrls } from "../../server/documentation/at-addresses.ts";
import {
  answersList,
  bodiesList,
  errorsList,
  markdownTable,
  operationsList,
} from "../../server/documentation/tables.ts";
import { operations } from "../../server/operations.ts";
import type { StoreDamagedError } from "../../server/store/directory/checked-lines.ts";
import type { DatabaseUrlError } from "../../server/store/postgres/database.ts";
import type { StoreConflictError, StoreUnavailableError } from "../../server/store/store.ts";
import type { ExplorationError } from "../../testkit/explore/exploration-error.ts";
import { exploreOptions } from "../../testkit/explore/options.ts";
import { poolOperations } from "../../testkit/pool/served/pool-operations.ts";
import type { ScenarioDifferenceError } from "../../testkit/scenario/scenario-difference-error.ts";
import { contractTables } from "./contract-tables.ts";
import { rpcTables } from "./rpc-tables.ts";

/** The codes of each error, with when it is thrown: a code that is missing here does not compile. */
type Errors = {
  StoreUnavailableError: StoreUnavailableError["code"];
  StoreDamagedError: StoreDamagedError["code"];
  StoreConflictError: StoreConflictError["code"];
  DatabaseUrlError: DatabaseUrlError["code"];
  ChainUnavailableError: ChainUnavailableError["code"];
  ChainMismatchError: ChainMismatchError["code"];
  ClockError: ClockError["code"];
  GivenInvalidError: GivenInvalidError["code"];
  RetryLimitError: RetryLimitError["code"];
  ScenarioDifferenceError: ScenarioDifferenceError["code"];
  ExplorationError: ExplorationError["code"];
  RelayerError: RelayerErrorCode;
  AnvilError: AnvilErrorCode;
  GenesisError: GenesisErrorCode;
  InstallationError: InstallationError["code"];
  NodeFaultError: NodeFaultError["code"];
};

const errors: { readonly [Name in keyof Errors]: Readonly<Record<Errors[Name], string>> } = {
  StoreUnavailableError: { storage_unavailable: "The disk or the database refuses to read or write." },
  StoreDamagedError: {
    store_damaged: "A file of the store does not match its checksums, or is incomplete.",
  },
  StoreConflictError: { store_conflict: "A commit to `sandbox.store` meets a newer record." },
  DatabaseUrlError: { database_url_invalid: "The URL of `store` does not name a PostgreSQL database." },
  ChainUnavailableError: { rpc_unavailable: "The chain does not respond." },
  ChainMismatchError: { chain_mismatch: "The node serves another chain than the sandbox was started on." },
  ClockError: {
    time_invalid: "The clock cannot move as asked: back, by zero, or to an invalid value.",
  },
  GivenInvalidError: {
    given_invalid: "The options of the given state are invalid; `errors` has each of them.",
  },
  RetryLimitError: {
    retry_limit:
      "The outcome of a request is still unknown after as many identical requests as [`mostRequests`](tests.md#call-the-api) allows.",
  },
  ScenarioDifferenceError: {
    scenario_differs: "A played scenario differs from the recorded one; `step` and `field` say where.",
  },
  ExplorationError: {
    exploration_failed:
      "An [exploration](explore.md) differs from what is documented; `sequence` and `scenario` say how.",
  },
  RelayerError: {
    fault_invalid: "The fault can have no effect at this point, or the node refuses it.",
    gas_budget_exceeded: "The gas budget of the program does not cover the reservation.",
    rpc_unavailable: "The node does not respond.",
    rpc_refused: "The node returns an error.",
    chain_mismatch: "The node serves another chain epoch than the operation's.",
    signer_unknown: "The relayer has no key of the signer.",
    operation_unknown: "No relay operation has this id.",
    operation_not_resumable: "The relay operation does not need attention.",
    operation_not_abandonable: "The nonce of the relay operation was not taken, so it cannot be abandoned.",
  },
  AnvilError: {
    binary_missing: "Anvil's binary for this platform is not installed.",
    start_failed: "Anvil ended before it listened, or did not listen or respond in time.",
    state_unusable: "Anvil cannot load the chain's state: its file is damaged.",
    not_ours: "Another node responds on Anvil's port.",
    stop_failed: "Anvil did not end in time.",
    replay_failed: "The blocks of the store's journal cannot be mined again with the same hashes.",
  },
  GenesisError: {
    not_compiled: "The contracts are not compiled.",
    not_built: "The prepared chain is missing and cannot be built.",
    mismatch: "The chain is not the prepared one.",
  },
  InstallationError: {
    registrar_unusable:
      "[`check-contract`](check-contract.md) cannot deploy the contract, or cannot open a program in it.",
  },
  NodeFaultError: {
    anvil_failed: "Anvil ended or gave no response during [`check-contract`](check-contract.md).",
  },
};

/** Returns a list of codes with when each occurs. */
function codesList(codes: { readonly [code: string]: string }): string[] {
  return Object.entries(codes).map(([code, when]) => `- \`${code}\`: ${when}`);
}

/** Returns the list of all errors with a code but `SandboxError`, whose codes have a list of their own. */
function otherErrorsList(): string {
  const entries = Object.entries(errors).flatMap(([name, codes]) => {
    const lines = codesList(codes);
    return lines.length === 1
      ? lines.map((line) => line.replace(/^- (`\w+`)/, `- \`${name}\` ($1)`))
      : [`- \`${name}\``, ...lines.map((line) => `  ${line}`)];
  });
  return [
    "- `ProblemError`: The API refused a request; `code` is one of the API's [codes](api.md#errors).",
    ...entries,
  ].join("\n");
}

function requestsList(described: readonly DescribedOperation[]): string {
  return described.map((operation) => `- ${requestOf(operation)}: ${textOf(operation)}`).join("\n");
}

/** The request, with a link to the page that says more about it. */
function requestOf({ method, path, example, page }: DescribedOperation): string {
  const body = example === undefined ? "" : ` \`${JSON.stringify(example)}\``;
  const request = `\`${method.toUpperCase()} ${path}\``;
  return `${page === undefined ? request : `[${request}](${page.target.replace(/^control\.md/, "")})`}${body}`;
}

function textOf({ summary, description = "", success, method }: DescribedOperation): string {
  const status = method === "post" && success.status !== 200 ? ` Status: \`${success.status}\`.` : "";
  return `${summary} ${description}`.trim() + status;
}

/** An option of a schema: the sentences and the default are those of its doc comment. */
interface DescribedOption {
  readonly name: string;
  readonly flags: readonly string[];
  readonly type: string;
  readonly byDefault: string;
  readonly what: string;
}

/** The flags of `network`, which the commands add by themselves. */
const networkFlags = addNetworkOptions(new Command(), true).options.map(({ long }) => long ?? "");

/** Returns the options of a schema, of which some have flags. @throws Error for an option without a comment or a default. */
function optionsOf(file: string, { shape }: z.ZodObject, flagged: typeof flaggedOptions): DescribedOption[] {
  const comments = readFileSync(join(packageRoot(), file), "utf8").matchAll(
    /\/\*\*((?:(?!\*\/).)*)\*\/\s+(\w+)\?: /gs,
  );
  const texts = new Map([...comments].map(([, text = "", name = ""]) => [name, text]));
  return Object.entries(shape).map(([name, schema]) => {
    const [what = "", value] = (texts.get(name) ?? "")
      .replace(/\s*\n\s*\* ?/g, " ")
      .split(/\s*@defaultValue\s+/);
    if (value === undefined) throw new Error(`The option ${name} has no comment or no default.`);
    const own = flagged.filter((option) => option.name.split(".")[0] === name);
    const of = name === "network" ? networkFlags : own.map(({ flag }) => flag.replace(/ .*/, ""));
    const flags = of.map((flag) => `\`${flag}\``);
    return { name, flags, type: withCode(typeOf(schema)), byDefault: value.trim(), what: what.trim() };
  });
}

/** Returns a list of options, each with its flags, type and default at the end. */
function optionsList(options: readonly DescribedOption[]): string {
  return options
    .map(({ name, flags, type, byDefault, what }) => {
      const details = [flags.map((flag) => flag + formOf(type)).join(", "), type, defaultText(byDefault)];
      return `- \`${name}\`: ${what} (${details.filter(Boolean).join("; ")})`;
    })
    .join("\n");
}

/** Returns how a flag differs from its option in code. */
function formOf(type: string): string {
  if (type === "true or false") return " without a value";
  return type.startsWith("bigint") ? " with decimal digits" : "";
}

/** Returns a default as the list has it; `none` is not said, unless `start` has one. */
function defaultText(byDefault: string): string {
  if (byDefault === "none") return "";
  if (byDefault.startsWith("none; ")) return byDefault.replace("none", "no default");
  return /^(?:`|\d|true|false|unlimited)/.test(byDefault)
    ? `default ${byDefault}`
    : `by default ${byDefault}`;
}

function typeOf(option: z.core.$ZodType): string {
  const schema = withoutWrappers(option);
  if (schema instanceof z.ZodArray) return `array, each ${titleOf(schema.element)}`;
  if (!(schema instanceof z.ZodObject)) return withoutArticle(titleOf(schema));
  const types = [...new Set(Object.values(schema.shape).map((field) => titleOf(withoutWrappers(field))))];
  const names = Object.keys(schema.shape);
  // Fields of several types are explained in the text.
  if (types.length > 1) return `\`{ ${names.join(", ")} }\``;
  return `\`{ ${names.join(", ")} }\`, ${names.length === 1 ? "" : "each "}${types.join("")}`;
}

/** Returns a type, which an error message has too, with its values and names as code. */
function withCode(type: string): string {
  return type
    .replaceAll(
      /`[^`]*`|"[^"]*"|\{[^}]*\}|\d+n(?: \*\* \d+n)?(?: - \d+n)?|(?<=(?:with|functions|,|and) )(?:name|schema|capture|restore|info|error)\b/g,
      (found) => (found.startsWith("`") ? found : `\`${found}\``),
    )
    .replace(/(?<=milliseconds from \d to )\d+/, (most) => Number(most).toLocaleString("en-US"));
}

function withoutArticle(title: string): string {
  return title.replace(/^an? /, "");
}

function titleOf(schema: z.core.$ZodType): string {
  return z.globalRegistry.get(schema)?.title ?? "any value";
}

interface Texts {
  readonly [name: string]: string;
}

const apiTables: Texts = {
  operations: operationsList(operations),
  bodies: bodiesList(operations),
  answers: answersList(operations),
  errors: errorsList(defaultUrls.docs),
};

const tables: { readonly [page: string]: Texts } = {
  "docs/api.md": apiTables,
  "docs/check-contract.md": {
    states: markdownTable(
      ["Of", "Values"],
      Object.entries(stateValues).map(([name, values]) => [name, values.join(", ")]),
    ),
  },
  "docs/contracts.md": contractTables,
  "docs/control.md": {
    operations: requestsList(
      Object.keys(controlTags).flatMap((tag) =>
        // The explorer's have a table of their own, and those of joined processes are not for readers.
        controlOperations.filter(
          (operation) => operation.tag === tag && tag !== "Explorer" && tag !== "Processes",
        ),
      ),
    ),
    explorer: requestsList(controlOperations.filter(({ tag }) => tag === "Explorer")),
  },
  "docs/pool.md": { operations: requestsList(poolOperations) },
  "docs/rpc.md": rpcTables,
  "docs/explain.md": {
    mistakes: Object.entries(signatureMistakes)
      .map(([name, mistake]) => `- \`${name}\`: ${mistake}`)
      .join("\n"),
  },
  "docs/explore.md": { options: optionsList(optionsOf("testkit/explore/options.ts", exploreOptions, [])) },
  "docs/options.md": {
    options: optionsList(optionsOf("sandbox/options/options.ts", sandboxOptions, flaggedOptions)),
    errors: codesList(sandboxErrors).join("\n"),
    other_errors: otherErrorsList(),
  },
};

/**
 * Returns a page with its tables (between `<!-- generated:name -->` and `<!-- /generated -->`) as the code has them.
 *
 * @throws Error when the page names a table that does not exist.
 */
export function fillPage(name: string, page: string): string {
  const marked = /<!-- generated:(\w+) -->(?:(?!<!-- generated:).)*?<!-- \/generated -->/gs;
  return page.replaceAll(marked, (_, table: string) => {
    const text = tables[name]?.[table];
    if (text === undefined) throw new Error(`There is no table ${table} for ${name}.`);
    return `<!-- generated:${table} -->\n${text}\n<!-- /generated -->`;
  });
}

const pages = await Array.fromAsync(glob(["docs/*.md", "portal/docs.md"], { cwd: packageRoot() }));

/** The pages with their tables. */
export const files = Object.fromEntries(
  await Promise.all(
    pages.map(async (page) => [page, fillPage(page, await readFile(join(packageRoot(), page), "utf8"))]),
  ),
);
