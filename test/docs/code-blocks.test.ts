import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandsOf, createProgram } from "../../cli/program.ts";
import { contractArtifactFile } from "../../sandbox/chain/contracts.ts";
import type { RegistrarOption } from "../../sandbox/chain/registrar/registrar.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { readScenario } from "../../sandbox/scenarios/scenario-file.ts";
import { type ClientCheck, checkClient } from "../../testkit/check-client.ts";
import { createExplorableSandbox, type ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";
import type { ExploreOptions } from "../../testkit/explore/options.ts";
import { sandboxMatchers } from "../../testkit/matchers.ts";
import { playScenario } from "../../testkit/scenario/play-scenario.ts";
import { openReceiver } from "../kit/external-receiver.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type CodeBlock, codeBlocks, runBlock } from "./code-blocks.ts";

async function strangersApproval({
  given,
  wallets,
}: ExplorableSandbox): Promise<{ transactionHash: string }> {
  const { purchase } = await given.purchase({ state: "active" });
  return { transactionHash: (await wallets.stranger.approve(purchase)).transaction_hash };
}

/** The variables that the text before a code block introduces, made with a sandbox. */
const preludes: { readonly [place: string]: (sandbox: ExplorableSandbox) => Promise<object> } = {
  "ci.md: Equal runs": async (sandbox) => ({ recorded: (await sandbox.fingerprint()).digest }),
  "explain.md: Explain": strangersApproval,
  "explore.md: Explore": async () => {
    const receiver = await openReceiver();
    const scenario = join(await temporaryFolder(), "failing.yaml");
    let sandbox: ExplorableSandbox;
    return {
      // The page's receiver is the reader's own. A walk takes fewer steps here.
      createSandbox: async () => {
        sandbox = await createExplorableSandbox({ seed: "docs", receiverUrl: receiver.url });
        const explore = async (options: ExploreOptions) =>
          await sandbox.explore({ ...options, steps: 20, scenario });
        return { explore, [Symbol.asyncDispose]: async () => await closeBoth(sandbox, receiver) };
      },
      backend: {
        clear: async () => receiver.received.splice(0),
        statusOf: async (id: string) => {
          const { client, description } = sandbox;
          const path = { program: description.accounts[0].program, id };
          const params = { path };
          return (await client.GET("/v1/routing/programs/{program}/purchases/{id}", { params })).data?.status;
        },
      },
    };
  },
  "check-client.md: In a test": async () => ({
    // The page's client is the reader's own. One case is enough here.
    checkClient: async (check: ClientCheck) =>
      await checkClient({
        ...check,
        run: async ({ client, store, wallets }) => {
          const [merchant] = await store.list("merchants", {});
          const { buyer, beneficiary } = wallets;
          await client.retrying.createPurchase(
            { id: merchant?.key ?? "", program: "prg_demo" },
            { buyer: buyer.address, beneficiary: beneficiary.address, amount: "1000000", terms: {} },
          );
        },
        only: "createPurchase/answer-lost",
      }),
  }),
  "check-contract.md: Run the sandbox on your contract": async () => ({
    createSandbox: async ({ contracts: { registrar } }: { contracts: { registrar: RegistrarOption } }) => {
      const artifact = contractArtifactFile("PurchaseRegistrar");
      return await createExplorableSandbox({
        seed: "docs",
        contracts: { registrar: { ...registrar, artifact } },
      });
    },
  }),
  "explore.md: Play the shortest sequence": async () => ({
    playScenario,
    readScenario: async () =>
      await readScenario(join(packageRoot(), "examples", "scenarios", "lost-response.yaml")),
    check: async () => {},
    receiverUrl: undefined,
  }),
  "faults.md: Faults": async ({ chain }) => {
    await chain.client.mine({ blocks: 2 });
    return {};
  },
  "notifications.md: Wait for deliveries in a test": async ({ given }) =>
    await given.merchant({ state: "enrolled" }),
  "tests.md: Connect your backend": async () => {
    const receiver = await openReceiver();
    onTestFinished(async () => await closeBoth(receiver));
    return {
      // The page's backend is the reader's own.
      startBackend: async (settings: object) => {
        expect(settings).toEqual({
          api: expect.stringMatching(/^http:/),
          key: expect.stringMatching(/^rsk_/),
          secret: expect.stringMatching(/^whsec_/),
        });
        return { webhookUrl: receiver.url };
      },
    };
  },
  "tests.md: Act as a wallet": async ({ given }) => {
    const { purchase } = await given.purchase({ state: "partially_paid", paid: "1" });
    return { purchase };
  },
  "tests.md: Assertions with jest": async (sandbox) => ({ fixture: { sandbox } }),
  "tests.md: Assertions": async (sandbox) => {
    expect.extend(sandboxMatchers(() => sandbox));
    const { client, given, wallets } = sandbox;
    const { purchase, refund } = await given.purchase({ state: "refunded" });
    const { purchase: unpaid } = await given.purchase({ state: "active" });
    const payment = await wallets.stranger.pay(unpaid);
    const path = "/v1/routing/programs/{program}/purchases/{id}/reconcile";
    const header = { "Idempotency-Key": "docs-reconcile" };
    const params = { path: { program: unpaid.program, id: unpaid.id }, header };
    // The client's first request issues its credential, which is a record.
    await client.GET("/v1/routing/programs/{program}", { params: { path: { program: "prg_demo" } } });
    const body = { transaction_hashes: [payment.transaction_hash] };
    return { purchase, refund, payment, path, params, body, recorded: (await sandbox.fingerprint()).digest };
  },
};

async function closeBoth(...opened: AsyncDisposable[]): Promise<void> {
  for (const one of opened) await one[Symbol.asyncDispose]();
}

const blocks = codeBlocks();
const programs = blocks.filter(({ language }) => language === "ts" || language === "js");
// code-blocks.browser.ts runs the blocks of browser.md.
const inBrowser = ({ place }: CodeBlock) => place.startsWith("browser.md:");
const isSuite = ({ code }: CodeBlock) => /sandboxTest\(|sandboxFixture\(/.test(code);

describe.each(programs.filter((block) => !isSuite(block) && !inBrowser(block)))(
  "$place",
  ({ place, code }) => {
    test("the code runs as it is written", { tags: "thorough" }, async () => {
      expect.hasAssertions();
      const sandbox = await freshSandbox();
      const { client } = sandbox;
      await runBlock(code, {
        sandbox,
        createSandbox: createExplorableSandbox,
        client,
        expect,
        ...(await preludes[place]?.(sandbox)),
      });
      expect(await sandbox.clock.now()).toBeGreaterThan(0);
    });
  },
);

// These register tests and hooks of their own. A worker's fixture can do that only at the top of a file, and hooks are for their tests.
// Hooks of a file run for all of its tests, so the hooks of ci.md have a file of their own, save-failure.test.ts.
for (const { place, code } of programs.filter(
  (block) => isSuite(block) && !block.code.includes("test.afterEach"),
)) {
  const register = async () => await runBlock(code, { beforeEach, afterEach, after: afterAll, test, expect });
  if (code.includes("sandboxTest(")) await register();
  else describe(place, register);
}

/** Returns the commands of a shell block, without prompts and comments. */
const commandLines = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ place, code }) =>
    code
      .replaceAll("\\\n", " ")
      .split("\n")
      .map((line) => ({ place, line: line.replace(/(?:^|\s+)#.*$|^\w+=\$\(/g, "").trim() })),
  )
  .filter(({ line }) => line !== "");

/** The command of a program and its arguments, each word without its quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...found]) => found.find(Boolean) ?? "");
}

test("every command line in the docs exists in the program or in package.json", () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  expect(commandLines.length).toBeGreaterThan(40);
  const seen = new Set<string>();
  for (const { place, line } of commandLines) {
    const inForeground = line.replace(/ & \w+=\$!$/, "").replace(/^trap '(.*)' EXIT$/, "$1");
    const [program = "", ...words] = wordsOf(
      inForeground.replace(/^(?:npx |node_modules\/\.bin\/)routing-sandbox/, "routing-sandbox"),
    );
    if (program === "routing-sandbox") requireCommand(words, `${place}: ${line}`);
    else if (program === "npm" && words[0] === "start") requireCommand(["start", ...words.slice(2)], line);
    else if (program === "npm" && words[0] === "run") expect(Object.keys(scripts), place).toContain(words[1]);
    else seen.add(program);
  }
  expect([...seen].sort()).toEqual([
    "cp",
    "curl",
    "echo",
    "export",
    "jq",
    "mkdir",
    "npm",
    "npx",
    "sed",
    "set",
  ]);
});

/** Fails unless a command takes these words. */
function requireCommand(words: readonly string[], line: string): void {
  const [found] = commandsOf(createProgram(process)).filter(({ path }) =>
    `${words.join(" ")} `.startsWith(`${path} `),
  );
  expect(found, line).toBeDefined();
  if (found === undefined) return;
  const rest = words.slice(found.path.split(" ").length);
  const { operands, unknown } = parse(found.command, rest, line);
  expect(unknown, line).toEqual([]);
  const required = found.command.registeredArguments.filter((argument) => argument.required).length;
  expect(operands.length, line).toBeGreaterThanOrEqual(required);
}

function parse(command: Command, words: string[], line: string) {
  try {
    return command.parseOptions(words);
  } catch (error) {
    throw new Error(`${line}: ${error instanceof Error ? error.message : error}`);
  }
}
