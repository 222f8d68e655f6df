import { expect, test } from "vitest";
import { createApiClient, unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { runDemo } from "../../../testkit/demo/run-demo.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const options: SandboxOptions = {
  seed: "own-account",
  accounts: ["acct_worker", { id: "acct_reports", program: "prg_other" }],
};

const path = "/v1/routing/programs/{program}";

/** A backend under test: a credential of an account of sandbox.json, and reads with it. */
async function openBackend(api: string, { key, program }: { key: string; program: string }) {
  const { credential, account } = unwrap(
    await createApiClient(api, key).POST("/v1/routing/access", { body: {} }),
  );
  const client = createApiClient(api, credential);
  const read = async () => (await client.GET(path, { params: { path: { program } } })).error?.code ?? "read";
  return { account, read };
}

test("the backend under test, the sandbox's client, given states, deliveries and the demo revoke no credential of each other", async () => {
  const sandbox = await freshSandbox(options);
  const { accounts, urls } = sandbox.description;
  const readOwn = async () =>
    (await sandbox.client.GET(path, { params: { path: { program: "prg_demo" } } })).error?.code ?? "read";
  expect(await readOwn()).toBe("read");
  const backend = await openBackend(urls.api, accounts[0]);
  expect(await readOwn()).toBe("read");
  await sandbox.given.purchase({ state: "created" });
  await sandbox.deliverAll();
  await sandbox.client.retrying.deliver("prg_demo").catch(() => undefined);
  await runDemo(sandbox.description, silentPrinter);
  expect([await backend.read(), await readOwn()]).toEqual(["read", "read"]);
});

test("a new credential of an account still revokes the one before", async () => {
  const { description } = await freshSandbox(options);
  const { accounts, urls } = description;
  const before = await openBackend(urls.api, accounts[0]);
  const after = await openBackend(urls.api, accounts[0]);
  expect([await before.read(), await after.read()]).toEqual(["credential_revoked", "read"]);
});

test("added accounts are described after those of the programs, each with a key of its own, and revoke no credential of another", async () => {
  const { description } = await freshSandbox(options);
  const { accounts, urls } = description;
  expect(accounts.map(({ id, program }) => `${id} ${program}`)).toEqual([
    "acct_demo prg_demo",
    "acct_other prg_other",
    "acct_worker prg_demo",
    "acct_reports prg_other",
  ]);
  expect(new Set(accounts.map(({ key }) => key)).size).toBe(4);
  expect(description.reviewers.map(({ program }) => program)).toEqual(["prg_demo", "prg_other"]);
  const backends = await Promise.all(accounts.map((account) => openBackend(urls.api, account)));
  expect(backends.map(({ account }) => account)).toEqual(accounts.map(({ id }) => id));
  for (const { read } of backends) expect(await read()).toBe("read");
});

test("an account that is added changes no key and no hash of the others", async () => {
  const sandbox = await freshSandbox(options);
  await using plain = await createSandbox({ seed: "own-account" });
  expect(sandbox.description.accounts.slice(0, 2)).toEqual(plain.description.accounts);
  expect(await sandbox.fingerprint()).toEqual(await plain.fingerprint());
});

test("a recording names the added accounts, the client's own account and its credential, and plays again", async () => {
  const sandbox = await freshSandbox(options);
  await sandbox.record("accounts");
  const { urls, accounts } = sandbox.description;
  for (const { key } of accounts.slice(2))
    await createApiClient(urls.api, key).POST("/v1/routing/access", { body: {} });
  await sandbox.client.GET(path, { params: { path: { program: "prg_demo" } } });
  const scenario = await sandbox.stopRecording();
  expect(scenario.accounts).toEqual([
    { id: "acct_worker", program: "prg_demo" },
    { id: "acct_reports", program: "prg_other" },
  ]);
  const callers = scenario.steps.map((step) => "as" in step && step.as);
  expect(callers.slice(0, 3)).toEqual(["acct_worker", "acct_reports", "client/prg_demo"]);
  expect(JSON.stringify(scenario)).not.toMatch(/rs[ck]_(?!redacted)/);
  await playScenario(scenario);
});

const refused: [given: SandboxOptions["accounts"], message: string][] = [
  [
    ["worker"],
    '"worker" is no account: its id is acct_ and 1 to 40 lower-case letters, digits or underscores.',
  ],
  [["client/prg_demo"], '"client/prg_demo" is no account: its id is acct_'],
  [["acct_demo"], "Two accounts have the id acct_demo; each needs its own."],
  [["acct_a", "acct_a"], "Two accounts have the id acct_a; each needs its own."],
  [
    [{ id: "acct_a", program: "prg_none" }],
    "The account acct_a is for prg_none, which is not served. Use prg_demo or prg_other.",
  ],
  [
    Array.from({ length: 101 }, (_, index) => `acct_${index}`),
    "The option accounts has 101 accounts. Pass at most 100.",
  ],
];

test.for(refused)("the accounts %j are refused: %s", async ([accounts, message]) => {
  await expect(createSandbox({ accounts: accounts ?? [] })).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(message),
  });
});
