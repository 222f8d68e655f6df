import type { MutantGroup } from "./mutant.ts";

const explain_ = "test/sandbox/hosts/explain/explain.test.ts";
const choice = "test/sandbox/hosts/explain/explain-choice.test.ts";
const typedData = "test/sandbox/hosts/explain/signatures/typed-data.test.ts";
const data = "test/sandbox/hosts/explorer/data.test.ts";
const stream = "test/sandbox/hosts/explorer/stream.test.ts";

export const explain: readonly MutantGroup[] = [
  {
    file: "sandbox/hosts/explain/cause/name-cause.ts",
    tests: [choice],
    mutants: [
      {
        rule: "A wrong wallet is named before wrong calldata.",
        find: "Object.entries(sentences)",
        replace: "Object.entries({ calldata: sentences.calldata, ...sentences })",
      },
      {
        rule: "A wrong contract is named before a wrong wallet.",
        find: "Object.entries(sentences)",
        replace: "Object.entries({ wallet: sentences.wallet, ...sentences })",
      },
      {
        rule: "Wrong calldata is named before the revert that it caused.",
        find: "Object.entries(sentences)",
        replace: "Object.entries({ status: sentences.status, ...sentences })",
      },
      {
        rule: "A revert is named before the logs that it lacks.",
        find: "Object.entries(sentences)",
        replace: "Object.entries({ log: sentences.log, ...sentences })",
      },
      {
        rule: "A hash that is used already is named before its time.",
        find: "Object.entries(sentences)",
        replace: "Object.entries({ timely: sentences.timely, ...sentences })",
      },
      {
        rule: "A transaction before its window is distinguished from one after it.",
        find: "Number(actual) < from",
        replace: "Number(actual) > from",
        tests: [choice],
        only: "is older than its purchase",
      },
      {
        rule: "Bytes that say the same in another way are distinguished from a wrong argument.",
        find: "return field === undefined\n",
        replace: "return field !== undefined\n",
        tests: [choice, explain_],
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/explain-transaction.ts",
    tests: [explain_],
    mutants: [
      {
        rule: "Of several steps the one with the fewest failed checks is reported.",
        find: "left.failed - right.failed",
        replace: "right.failed - left.failed",
        tests: [choice, explain_],
      },
      {
        rule: "A transaction that the chain does not know is distinguished from one that concerns no purchase.",
        find: "return envelope === null\n",
        replace: "return envelope !== null\n",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/candidates/find-candidates.ts",
    tests: [choice, explain_],
    mutants: [
      {
        rule: "A payment through a contract is found in the trace.",
        find: "...(trace === null ? [] : allCalls(trace).map(({ to, input }) => ({ to: to ?? null, data: input }))),",
        replace: "",
      },
      {
        rule: "Of a buyer's purchases the newest is compared first.",
        find: ".filter(({ value }) => sameAddress(value.buyer, sender))\n    .toReversed()",
        replace: ".filter(({ value }) => sameAddress(value.buyer, sender))",
      },
      {
        rule: "An approval to the funding source is one of a funding.",
        find: "return funds ? [...fundings, ...payments] : [...payments, ...fundings];",
        replace: "return funds ? [...payments, ...fundings] : [...payments, ...fundings];",
        tests: [choice],
        only: "a merchant that is a buyer too",
      },
      {
        rule: "A batch is compared as each of its purchases.",
        find: 'call.function === "payBatch" ? list(args["ids"])',
        replace: 'call.function === "payBatch" ? list(args["ids"]).slice(0, 1)',
        tests: [choice],
        only: "a batch",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/candidates/candidate.ts",
    tests: [explain_],
    mutants: [
      {
        rule: "A claim after one was filed is compared with the filed one.",
        find: 'filed?.claim_hash ?? asHash(args["claimHash"])',
        replace: 'asHash(args["claimHash"])',
        tests: ["test/sandbox/hosts/explain/explain.test.ts"],
        only: "after one was filed",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/candidates/read-refused-submission.ts",
    tests: ["test/sandbox/hosts/explain/explain-submission.test.ts"],
    mutants: [
      {
        rule: "A refusal that another step has accepted since is not explained.",
        find: "if (id === undefined && isUsed",
        replace: "if (id !== undefined && isUsed",
        only: "accepted for its own",
      },
      {
        rule: "A named purchase is explained with its own submission.",
        find: "(id === undefined || subject === id)",
        replace: "true",
        only: "any other one on request",
      },
    ],
  },
  {
    file: "sandbox/chain/describe-revert.ts",
    tests: [explain_],
    mutants: [
      {
        rule: "A permit that the token refuses is reported with the token's reason.",
        find: 'name === "reason" &&',
        replace: 'name === "why" &&',
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/cause/compare-calldata.ts",
    tests: [explain_],
    mutants: [
      {
        rule: "The words of calldata begin after its selector.",
        find: "offset += offset === 0 ? 4 : 32",
        replace: "offset += 32",
      },
      {
        rule: "A byte that is missing differs.",
        find: "Math.max(left.length, right.length) / 2",
        replace: "Math.min(left.length, right.length) / 2",
      },
    ],
  },
  {
    file: "sandbox/hosts/explorer/live/refusal-log.ts",
    tests: [data],
    mutants: [
      {
        rule: "A transaction that is only unconfirmed is not told as refused.",
        find: 'if (refusal.code === "transaction_unconfirmed") return;',
        replace: "",
        only: "only unconfirmed",
      },
      {
        rule: "The same refusal again is one, and counted.",
        find: "again ? last.times + 1 : 1",
        replace: "1",
      },
    ],
  },
  {
    file: "sandbox/hosts/explorer/live/change-feed.ts",
    tests: [stream],
    mutants: [
      {
        rule: "A client that comes back gets only what it missed.",
        find: "this.#changes.slice(place + 1)",
        replace: "this.#changes.slice(place)",
        only: "a reconnected client",
      },
      {
        rule: "A change of more than fifty purchases names none.",
        find: "this.#purchases.size > namedPurchases ? null",
        replace: "this.#purchases.size < 0 ? null",
      },
    ],
  },
  {
    file: "sandbox/hosts/explorer/live/event-stream.ts",
    tests: [stream],
    mutants: [
      {
        rule: "A sixty-fifth client is asked to come later.",
        find: "this.#clients.size >= mostClients",
        replace: "this.#clients.size > mostClients",
      },
      {
        rule: "A client that did not read gets a message to read everything.",
        find: "if (client.lagging) client.missed = true;",
        replace: "if (client.lagging) return;",
      },
    ],
  },
  {
    file: "sandbox/hosts/explorer/reads/page.ts",
    tests: [data],
    mutants: [
      {
        rule: "A list of the explorer is read fifty at a time.",
        find: "if (data.length === pageSize)",
        replace: "if (data.length === pageSize + 1)",
      },
    ],
  },
  {
    file: "sandbox/hosts/recorder/find-unrepeatable.ts",
    tests: ["test/sandbox/hosts/recorder/recorder.test.ts"],
    mutants: [
      {
        rule: "A header that was sent twice is not recorded as one.",
        find: "if (twice !== undefined)",
        replace: 'if (twice === "")',
      },
    ],
  },
  {
    file: "testkit/scenario/repeat/player.ts",
    tests: ["test/testkit/scenario/scenario.test.ts"],
    mutants: [
      {
        rule: "A field of an answer that differs from the recorded one is named.",
        find: "if (JSON.stringify(answer.body[name]) !== JSON.stringify(fields[name]))",
        replace: "if (answer.body[name] === undefined)",
      },
      {
        rule: "An end that differs from the recorded one is named.",
        find: "if (end[field] !== expected)",
        replace: "if (end[field] === undefined)",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/signatures/compare-typed-data.ts",
    tests: [typedData],
    mutants: [
      {
        rule: "A wrong domain of typed data is named before a changed member.",
        find: "    ...inDomain,\n    ...mistakesOfTypes(given, known),\n",
        replace: "    ...mistakesOfTypes(given, known),\n    ...inDomain.slice(1),\n",
      },
      {
        rule: "Typed data without the type of the domain is named.",
        find: "...(hasDomainType(given) ? [] : [missingDomainType(known)])",
        replace: "...(hasDomainType(known) ? [] : [missingDomainType(known)])",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/signatures/explain-typed-data.ts",
    tests: [typedData],
    mutants: [
      {
        rule: "Typed data is compared with the object that has the most equal members.",
        find: "equal >= (closest?.equal ?? 0)",
        replace: "equal <= (closest?.equal ?? equal)",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/signatures/find-signed.ts",
    tests: [typedData],
    mutants: [
      {
        rule: "A signature of another purchase's message is named as one.",
        find: "findOtherNonce, findOtherMessage,",
        replace: "findOtherNonce,",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/decisions/signed-decision.ts",
    tests: ["test/sandbox/hosts/explain/decisions/decision.test.ts"],
    mutants: [
      {
        rule: "A decision that Ed25519ph has signed is named.",
        find: "return ed25519ph.verify(bytes, message, publicKey, { zip215: false });",
        replace: "return !ed25519ph.verify(bytes, message, publicKey, { zip215: false });",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/execution/tracers.ts",
    tests: ["test/sandbox/hosts/explain/execution/read-changes.test.ts"],
    mutants: [
      {
        rule: "The changes of a call include the ether that it sends.",
        find: "value: numberToHex(value) }",
        replace: "value: numberToHex(0n * value) }",
      },
      {
        rule: "The changes of a call are those of the state that the call is sent to.",
        find: "numberToHex(at.number)",
        replace: "numberToHex(at.number - 1)",
      },
    ],
  },
  {
    file: "sandbox/hosts/explain/execution/read-changes.ts",
    tests: ["test/sandbox/hosts/explain/execution/read-changes.test.ts"],
    mutants: [
      {
        rule: "The storage of a registrar contract of the user has no names.",
        find: "isRegistrar && isOwnRegistrar ?",
        replace: "isRegistrar ?",
      },
      {
        rule: "Of a slot only the parts that have changed are shown.",
        find: "    .filter((part) => part.before !== part.after);",
        replace: ";",
      },
    ],
  },
];
