import { expect, test } from "vitest";
import { createApiClient } from "../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { resolveOptions } from "../../../sandbox/options/settings.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const programs = ["prg_books", { id: "prg_demo", name: "Demo", account: "acct_main" }];

test("a sandbox serves the programs of its options, each with an account and keys of its own", async () => {
  await using sandbox = await createSandbox({ seed: "programs", programs });
  const { accounts, reviewers, urls } = sandbox.description;
  expect(accounts.map(({ id, program }) => [id, program])).toEqual([
    ["acct_books", "prg_books"],
    ["acct_main", "prg_demo"],
  ]);
  expect(new Set(accounts.map(({ key }) => key)).size).toBe(2);
  expect(reviewers.map(({ program }) => program)).toEqual(["prg_books", "prg_demo"]);
  expect(new Set(reviewers.map(({ key_id }) => key_id)).size).toBe(2);
  const { programs: deployed } = sandbox.chain.deployment;
  const signers = deployed.flatMap(({ operator, commitmentSigner }) => [operator, commitmentSigner]);
  expect(new Set(signers).size).toBe(4);
  expect(deployed.map(({ name }) => name)).toEqual(["prg_books", "Demo"]);

  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  expect(purchase.program).toBe("prg_books");
  expect(await demoSteps.activate(session, purchase, "activate")).toMatchObject({ status: "active" });

  const other = createApiClient(urls.api, session.credential);
  const { error } = await other.GET("/v1/routing/programs/{program}", {
    params: { path: { program: "prg_other" } },
  });
  expect(error?.status).toBeGreaterThanOrEqual(403);
});

test("a program's keys do not depend on other programs; equal programs give equal chains", async () => {
  await using alone = await createSandbox({ programs: ["prg_books"] });
  await using among = await createSandbox({ programs: ["prg_demo", "prg_books", "prg_more"] });
  await using again = await createSandbox({ programs: ["prg_books"] });
  const { programs: one } = alone.chain.deployment;
  const { programs: three } = among.chain.deployment;
  expect(three.find(({ id }) => id === "prg_books")).toEqual(one[0]);
  expect(among.description.chain.epoch).not.toBe(alone.description.chain.epoch);
  expect(await again.fingerprint()).toEqual(await alone.fingerprint());
});

test("a data directory continues with its programs, seed and mode, and refuses others", async () => {
  const dataDirectory = await temporaryFolder();
  const made = await createSandbox({ dataDirectory, seed: "kept", programs });
  const before = await made.fingerprint();
  await made.close();
  const other = "or choose another directory with the option dataDirectory.";
  await expect(createSandbox({ dataDirectory, programs: ["prg_demo"] })).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: `${dataDirectory} was made with programs prg_books (prg_books, acct_books), prg_demo (Demo, acct_main), not with program prg_demo (Demo store, acct_demo). Leave out the option programs to continue with it, delete it with the option fresh, ${other}`,
  });
  await expect(createSandbox({ dataDirectory, seed: "other", mode: "live", programs })).rejects.toMatchObject(
    {
      code: "data_directory_mismatch",
      message: `${dataDirectory} was made with seed "kept" and mode deterministic, not with seed "other" and mode live. Leave out the option seed and the option mode to continue with it, delete it with the option fresh, ${other}`,
    },
  );
  // As from a variable that is not set.
  const unset: object = { dataDirectory, seed: undefined, programs: undefined };
  await using resumed = await createSandbox(unset);
  expect(resumed.description.accounts).toEqual(made.description.accounts);
  expect(await resumed.fingerprint()).toEqual(before);
});

test("an option whose fields are undefined has the defaults of these fields", () => {
  const { connectionLimits, ports } = resolveOptions({});
  const unset = resolveOptions({ connectionLimits: { connections: undefined }, ports: { api: undefined } });
  expect(unset).toMatchObject({ connectionLimits, ports });
});

test.for([
  [{ mode: "Deterministic" }, 'mode must be "deterministic" or "live", not "Deterministic"'],
  [{ seed: 5 }, "seed must be a string of 1 to 200 characters, not 5."],
  [{ seed: "" }, "The option seed is empty. Pass a value."],
  [{ from: "" }, "The option from is empty. Pass a value."],
  [{ receiverUrl: "" }, "The option receiverUrl is empty. Pass a value."],
  [
    { contracts: { registrar: { artifact: "" } } },
    "The option contracts.registrar.artifact is empty. Pass a value.",
  ],
  [{ receiptTimeoutMs: Number.NaN }, "receiptTimeoutMs must be a whole number"],
  [{ dataDirectory: "" }, "dataDirectory is empty"],
  [{ fresh: true }, "Pass a directory, or leave out the option fresh."],
  [{ confirmations: 0 }, "confirmations must be a whole number from 1 to 1000, not 0"],
] as const)("refuses the option %j", async ([options, reason]) => {
  await expect(createSandbox(options as SandboxOptions)).rejects.toThrow(reason);
});

test.for([
  [["demo"], 'The option programs has "demo", which is no program id. Use an id such as prg_demo.'],
  [[{ id: "prg_books", account: "books" }], "is no program"],
  [
    [{ id: "prg_books", name: "" }],
    'The program prg_books has the name "". Pass one of 1 to 100 characters, or leave it out.',
  ],
  [["prg_books", "prg_books"], "Two programs have the id prg_books; each needs its own."],
  [
    ["prg_books", { id: "prg_demo", account: "acct_books" }],
    "Two programs have the account acct_books; each needs its own.",
  ],
  [[], "The option programs has 0 programs. Pass 1 to 100."],
] as const)("refuses %j as programs", async ([refused, reason]) => {
  await expect(createSandbox({ programs: refused })).rejects.toThrow(reason);
});
