/**
 * The flags of the options of createSandbox, joinSandbox, explore and listeners, and of the fields of POST /faults whose flags have other
 * names, and of the fields of POST /explain.
 */
const flags: ReadonlyMap<string, string> = new Map([
  ["seed", "--seed"],
  ["mode", "--mode"],
  ["ports.api", "--api-port"],
  ["ports.docs", "--docs-port"],
  ["ports.control", "--control-port"],
  ["ports.rpc", "--rpc-port"],
  ["apiPort", "--api-port"],
  ["port", "--port"],
  ["listen", "--listen"],
  ["allowHosts", "--allow-host"],
  ["accounts", "--account"],
  ["confirmations", "--confirmations"],
  ["programs", "--program"],
  ["contracts.registrar", "--registrar"],
  ["contracts.registrar.artifact", "--registrar"],
  ["contracts.registrar.constructorArguments", "--registrar-arguments"],
  ["contracts.registrar.proxy", "--registrar-proxy"],
  ["contracts.registrar.initializeArguments", "--registrar-initialize"],
  ["gasBudgetWei", "--gas-budget"],
  ["receiverUrl", "--receiver-url"],
  ["autoDeliver", "--auto-deliver"],
  ["dataDirectory", "--data-dir"],
  ["store", "--store"],
  ["fresh", "--fresh"],
  ["from", "--from"],
  ["startTimeoutMs", "--start-timeout"],

  ["network", "--rpc-url"],
  ["network.rpcUrls", "--rpc-url"],
  ["network.keys", "--keys"],
  ["network.deployment", "--deployment"],
  ["network.publicRpcUrl", "--public-rpc-url"],
  ["network.allowChainId", "--allow-chain-id"],
  ["scenario", "--scenario"],
  ["layer", "--layer"],
  ["point", "--point"],
  ["action", "--action"],
  ["count", "--count"],
  ["operation", "--operation"],
  ["program", "--program"],
  ["kind", "--kind"],
  ["caller", "--caller"],
  ["method", "--method"],
  ["subject_id", "--subject"],
  ["operation_id", "--relay-operation"],
  ["depth", "--depth"],
  ["delay_ms", "--delay"],
  ["status", "--status"],
  ["headers", "--header"],
  ["body", "--body"],
  ["call", "--call"],
  ["typed_data", "--typed-data"],
  ["decision", "--decision"],
  ["signature", "--signature"],
]);

/**
 * Returns the flag of an option or a field; undefined if the command line has none.
 *
 * @example flagOf("dataDirectory") // "--data-dir"
 */
export function flagOf(name: string): string | undefined {
  return flags.get(name);
}

/**
 * Returns a message of the library with flags in place of options: the library writes `the option dataDirectory`, the word that code has,
 * and the command line `--data-dir`, the word that its user typed. An option without a flag stays.
 *
 * @example inFlags("Name the database with the option store.") // "Name the database with --store."
 */
export function inFlags(message: string): string {
  return message.replaceAll(
    /\bthe option ([a-z_]+(?:\.[a-z]+)*)(?:\[\d+\])?(?![\w[])/gi,
    (text, name: string) => flagOf(name) ?? text,
  );
}
