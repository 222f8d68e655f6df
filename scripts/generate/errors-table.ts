import type { NodeFaultError } from "../../check-contract/fixture/node-fault.ts";
import type { InstallationError } from "../../check-contract/install-registrar.ts";
import type { RelayerErrorCode } from "../../relayer/errors.ts";
import type { AnvilErrorCode } from "../../sandbox/chain/anvil/anvil-error.ts";
import type { ClockError } from "../../sandbox/chain/clock/clock-error.ts";
import type { GenesisErrorCode } from "../../sandbox/chain/genesis/genesis-error.ts";
import { mostRequests, type RetryLimitError } from "../../sandbox/client/retrying-fetch.ts";
import type { GivenInvalidError } from "../../sandbox/given/given-invalid-error.ts";
import type { ChainMismatchError, ChainUnavailableError } from "../../server/chain/chain-reader.ts";
import { markdownTable } from "../../server/documentation/tables.ts";
import type { StoreDamagedError } from "../../server/store/directory/checked-lines.ts";
import type { DatabaseUrlError } from "../../server/store/postgres/database.ts";
import type { StoreConflictError, StoreUnavailableError } from "../../server/store/store.ts";
import type { ExplorationError } from "../../testkit/explore/exploration-error.ts";
import type { ScenarioDifferenceError } from "../../testkit/scenario/scenario-difference-error.ts";

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
  StoreUnavailableError: { storage_unavailable: "The disk or the database refuses." },
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
    retry_limit: `The outcome of a request is still unknown after ${mostRequests} identical requests.`,
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
    not_ours: "Another node responds on Anvil's port.",
    stop_failed: "Anvil did not end in time.",
    state_unusable: "Anvil cannot load the chain's state: its file is damaged.",
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

/** Returns the table of all errors with a code but `SandboxError`, whose codes have a table of their own. */
export function otherErrorsTable(): string {
  const rows = Object.entries(errors).flatMap(([name, codes]) =>
    Object.entries(codes).map(([code, when], index) => [
      index === 0 ? `\`${name}\`` : "",
      `\`${code}\``,
      when,
    ]),
  );
  return markdownTable(
    ["Error", "Code", "When"],
    [["`ProblemError`", "the API's [codes](api.md#errors)", "The API refused a request."], ...rows],
  );
}
