/** A state of a purchase, of the funding that covers it, of its program, and of the wallets that act. */
export interface PurchaseState {
  route: "offer" | "registration";
  paid: "nothing" | "a part" | "all";
  claim: "none" | "claimed" | "refunded";
  status: "open" | "withdrawn" | "expired";
  funding: "active" | "revoked" | "re-enrolled";
  program: "running" | "paused" | "without bounds" | "without an operator" | "with another operator";
  /** Whether the wallets have code. */
  wallets: "keys" | "contracts";
  /** Whether the buyer is its own beneficiary. */
  parties: "apart" | "own beneficiary";
}

type Dimension = keyof PurchaseState;

/** All values, the plainest of each dimension first. */
export const stateValues = {
  route: ["offer", "registration"],
  paid: ["nothing", "a part", "all"],
  claim: ["none", "claimed", "refunded"],
  status: ["open", "withdrawn", "expired"],
  funding: ["active", "revoked", "re-enrolled"],
  program: ["running", "paused", "without bounds", "without an operator", "with another operator"],
  wallets: ["keys", "contracts"],
  parties: ["apart", "own beneficiary"],
} as const satisfies { [D in Dimension]: readonly PurchaseState[D][] };

/** How a report names the values other than the plainest ones. */
const words: { readonly [value: string]: string } = {
  "a part": "paid in part",
  all: "paid",
  revoked: "funding revoked",
  "re-enrolled": "merchant re-enrolled",
  paused: "program paused",
  "without bounds": "program without bounds",
  "without an operator": "program without an operator",
  "with another operator": "program with another operator",
  contracts: "wallets with code",
  "own beneficiary": "buyer is its own beneficiary",
};

/** The changes of a program that are combined with a revoked funding. */
const withRevoked: readonly PurchaseState["program"][] = ["paused", "with another operator"];

/** All states that are tried, those with the fewest words first. */
export const purchaseStates: readonly PurchaseState[] = Object.entries(stateValues)
  .reduce<object[]>(
    (states, [dimension, all]) =>
      states.flatMap((state) => all.map((value) => ({ ...state, [dimension]: value }))),
    [{}],
  )
  .map((state) => state as PurchaseState)
  .filter(isTried)
  .toSorted((left, right) => wordsOf(left).length - wordsOf(right).length);

/** Leaves out the states that a purchase cannot have, and some in which both its funding and its program differ. */
function isTried({ route, paid, claim, status, funding, program, wallets, parties }: PurchaseState): boolean {
  const isPlain = funding === "active" && program === "running";
  return (
    (paid !== "nothing" || claim === "none") &&
    (paid !== "all" || status === "open") &&
    (route === "offer" || status !== "withdrawn") &&
    (wallets === "keys" || isPlain) &&
    (parties === "apart" || (isPlain && wallets === "keys" && status === "open")) &&
    (funding === "active" ||
      program === "running" ||
      (funding === "revoked" && withRevoked.includes(program)))
  );
}

/** Returns whether all that was paid is refunded, and not one unit of it: what a contract may judge by is tried with both. */
export function isRefundedInFull({ route, paid, claim }: PurchaseState): boolean {
  return claim === "refunded" && (route === "offer") === (paid === "a part");
}

/** Returns the words for the values of a state that are not the plainest ones. */
function wordsOf(state: PurchaseState): readonly string[] {
  const dimensions = Object.keys(stateValues) as Dimension[];
  return dimensions.flatMap((dimension) => {
    const value = state[dimension];
    if (dimension === "route" || value === stateValues[dimension][0]) return [];
    return [dimension === "claim" && isRefundedInFull(state) ? "refunded in full" : (words[value] ?? value)];
  });
}

/** Describes a state in full, such as "offer, paid in part, withdrawn, funding revoked". */
export function describeState(state: PurchaseState): string {
  const said = wordsOf(state);
  return [state.route, ...(said.length === 0 ? ["open"] : said)].join(", ");
}

/** Returns the name under which a report counts a state: its route and its last word, such as "offer, funding revoked". */
export function labelOf(state: PurchaseState): string {
  return `${state.route}, ${wordsOf(state).at(-1) ?? "open"}`;
}
