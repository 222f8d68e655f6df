import type { MutantGroup } from "./mutant.ts";

const folder = "test/sandbox/service/given";
const states = `${folder}/states.test.ts`;
const given = `${folder}/given.test.ts`;
const options = `${folder}/options.test.ts`;

export const givenStates: readonly MutantGroup[] = [
  {
    file: "sandbox/service/given/options.ts",
    tests: [`${folder}/options.test.ts`],
    mutants: [
      {
        rule: "A given purchase whose buyer is the wallet of its merchant to be is refused at that option.",
        find: 'requireOtherThan("merchant", known)',
        replace: 'requireOtherThan("deployer", known)',
      },
      {
        rule: "The refusal of too large an amount of a given state names the largest.",
        find: "BigInt(value) <= maxUint128",
        replace: "BigInt(value) > 0n",
      },
    ],
  },
  {
    file: "sandbox/hosts/control/refuse-error.ts",
    tests: [`${folder}/options.test.ts`],
    mutants: [
      {
        rule: "A given state that is refused has its code over HTTP.",
        find: "else if (error instanceof CodedError) sendRefusal(response, 422, error.message, { code: error.code });",
        replace: "else if (error instanceof CodedError) sendRefusal(response, 422, error.message);",
      },
    ],
  },
  {
    file: "sandbox/service/given/give-purchase.ts",
    tests: [options],
    mutants: [
      {
        rule: "A given deadline that has passed is refused by its own name.",
        find: "if (deadline <= now)",
        replace: "if (deadline <= 0)",
      },
      {
        rule: "Given deadlines out of order are refused by their own names.",
        find: "if (all[later] < all[earlier])",
        replace: "if (all[earlier] < 0)",
      },
    ],
  },
  {
    file: "sandbox/service/given/give-purchase.ts",
    tests: [states],
    mutants: [
      {
        rule: "A given purchase whose buyer is the wallet of the merchant that is passed is refused at that option.",
        find: "actors.wallets[name].address === merchant.wallet",
        replace: "actors.wallets[name].address === merchant.id",
        tests: [`${folder}/options.test.ts`],
      },
      {
        rule: "A purchase that is given paid is not reconciled.",
        find: 'if (state === "partially_paid" || state === "paid") return await read(active, api);',
        replace: "",
      },
      {
        rule: "A purchase that is given expired is past its pay deadline.",
        find: "travelTo(active.deadlines.pay_deadline + 1)",
        replace: "travelTo(active.deadlines.pay_deadline)",
      },
      {
        rule: "A given purchase comes on chain by its route.",
        find: 'if (plan.route === "registrar_offer")',
        replace: 'if (plan.route !== "expired")',
      },
      {
        rule: "A refund that is given due has its collection held.",
        find: "if (isHeld) await actors.holdCollection(reconciled.program, decision.decision_hash);",
        replace: "",
      },
      {
        rule: "A refund that is collected is not given as due.",
        find: 'if (isHeld && refund.status === "collected")',
        replace: "if (refund === null)",
        tests: ["test/sandbox/service/cluster/two-processes.test.ts"],
        only: "whichever process",
      },
      {
        rule: "A purchase that is given approved has no refund.",
        find: 'if (state === "approved" || state === "denied") return;',
        replace: 'if (state === "denied") return;',
      },
      {
        rule: "A given payment leaves the buyer's allowance for another purchase.",
        find: "BigInt(active.figures.approved) + amount",
        replace: "amount",
        tests: [given],
        only: "allowance",
      },
      {
        rule: "A given payment under a permit needs no approval.",
        find: "if (plan.permit === true)",
        replace: "if (plan.permit !== plan.permit)",
        tests: [given],
        only: "permit",
      },
      {
        rule: "A purchase that is to expire does so before a credential.",
        find: "const shortTermSeconds = 3_600;",
        replace: "const shortTermSeconds = 8 * 86_400;",
      },
    ],
  },
  {
    file: "sandbox/service/given/give-merchant.ts",
    tests: [given],
    only: "merchant",
    mutants: [
      {
        rule: "A given merchant is the one that its wallet is enrolled as.",
        find: "if (enrolled !== null) return",
        replace: "if (enrolled === undefined) return",
      },
      {
        rule: "A merchant that is given funded lets the funding source draw its cap.",
        find: 'if (plan.state === "funded") succeed(await wallet.fund(merchant));',
        replace: "",
      },
      {
        rule: "A given refund is funded by a merchant that was passed without funding.",
        find: "if (lacksFunding(merchant, plan)) succeed(",
        replace: "if (lacksFunding(merchant, plan) && merchant.id === plan.state) succeed(",
      },
      {
        rule: "A given purchase is of its merchant's program.",
        find: "plan.program !== undefined && plan.program !== merchant.program",
        replace: "plan.program === null",
        tests: [options],
        only: "another program",
      },
      {
        rule: "A wallet that is enrolled has no pending merchant.",
        find: 'if (plan.state === "pending")\n    throw',
        replace: "if (plan.state === null)\n    throw",
        tests: [options],
        only: "contradicts",
      },
    ],
  },
  {
    file: "sandbox/service/given/give-merchant.ts",
    tests: [options],
    only: "wallet must act",
    mutants: [
      {
        rule: "A merchant whose wallet cannot act is refused before its purchase is made.",
        find: 'if (plan.route === "merchant_direct" || lacksFunding(merchant, plan)) walletOf',
        replace: "if (plan.merchant === null) walletOf",
      },
    ],
  },
  {
    file: "sandbox/service/given/options.ts",
    tests: [options],
    mutants: [
      {
        rule: "A given award is at most what is claimed.",
        find: 'requireAtMost("award", awarded, "what is claimed,", claimed);',
        replace: "",
      },
      {
        rule: "A given claim is at most what is paid.",
        find: 'requireAtMost("claimed", claimed, "what is paid,", paid);',
        replace: "",
      },
      {
        rule: "An option that a given state has no use for is refused.",
        find: "value !== undefined && !states.includes(state)",
        replace: "value !== undefined && states.length === 0",
      },
      {
        rule: "A claim is given denied with an award of 0 only.",
        find: '(state === "denied") !== (awarded === "0")',
        replace: 'state !== "denied" && awarded === "0"',
      },
      {
        rule: "An option that does not exist is named when it is refused.",
        find: 'if (code === "unrecognized_keys" && Array.isArray(keys))',
        replace: "if (code === undefined)",
      },
    ],
  },
  {
    file: "sandbox/service/given/given-invalid-error.ts",
    tests: [options],
    mutants: [
      {
        rule: "A refusal over HTTP points to the option below merchant or purchase.",
        find: "pointer: parent + pointer",
        replace: "pointer",
      },
    ],
  },
  {
    file: "sandbox/service/given/actors/access.ts",
    tests: [given],
    mutants: [
      {
        rule: "A given state renews a credential that has expired.",
        find: "if (answer.status !== 401) return answer;",
        replace: "if (answer.status !== 402) return answer;",
        only: "expired",
      },
      {
        rule: "A restore brings the access of given states back.",
        find: "this.#held = structuredClone(state);",
        replace: "void state;",
        only: "restore",
      },
      {
        rule: "Each request of a given state has an idempotency key of its own.",
        find: "one.requests += 1;",
        replace: "",
      },
    ],
  },
  {
    file: "sandbox/service/given/actors/program-api.ts",
    tests: [given],
    mutants: [
      {
        rule: "A given state waits for the confirmations that the sandbox requires.",
        find: "if (wait.isEarly) await mineBlocks(chain.client, 1);",
        replace: "if (wait.isEarly) await waitInRealTime({ ...wait, seconds: 0 });",
        only: "confirmations",
      },
    ],
  },
  {
    file: "sandbox/service/given/given.ts",
    tests: [given],
    mutants: [
      {
        rule: "A given state is refused while mining is stopped.",
        find: "if (!automine && !interval)",
        replace: "if (automine && interval)",
        only: "mining is stopped",
      },
      {
        rule: "Given states are made one after the other.",
        find: "return await this.#sources.turns.runExclusive(async () => {",
        replace: "return await (async (work: () => Promise<T>) => await work())(async () => {",
        only: "one after the other",
      },
    ],
  },
  {
    file: "sandbox/service/given/actors/reviewer.ts",
    tests: [given],
    only: "reviewer",
    mutants: [
      {
        rule: "The reviewer denies when the award is 0.",
        find: 'outcome = award === "0" ? "denied" : "approved"',
        replace: 'outcome = "approved"',
      },
      {
        rule: "The reviewer signs the time that it is given.",
        find: "verdict.decidedAt ?? toTimestamp",
        replace: "toTimestamp",
      },
    ],
  },
  {
    file: "sandbox/service/connect-service.ts",
    tests: [given],
    mutants: [
      {
        rule: "The rate limit does not count the requests of given states.",
        find: "isLimited: false",
        replace: "isLimited: true",
        only: "rate limit",
      },
    ],
  },
  {
    file: "sandbox/service/keys/keys.ts",
    tests: [given],
    mutants: [
      {
        rule: "A given state revokes no credential of a test.",
        find: "seedAccount(seed, `given/${program}`, program)",
        replace: 'seedAccount(seed, program.replace(/^prg_/, "acct_"), program)',
        only: "stay valid",
      },
    ],
  },
  {
    file: "sandbox/hosts/control/operations/given.ts",
    tests: [given],
    mutants: [
      {
        rule: "A recording notes what makes a given state, and not the request for it.",
        find: "  recorded: false,\n  handle: async ({ sandbox, body })",
        replace: "  handle: async ({ sandbox, body })",
        only: "scenario",
      },
    ],
  },
];
