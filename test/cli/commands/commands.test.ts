import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { commandsOf, createProgram, exampleOfCommand } from "../../../cli/program.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { Storefront, send } from "../../crash/storefront.ts";
import { deployOn, startAutominingAnvil } from "../../kit/connected.ts";
import { cli, startInFolder } from "../program.ts";
import { runCli, tryCli } from "../run-cli.ts";

const execute = promisify(execFile);

const refusal = z.object({ detail: z.string(), operation: z.object({ operation_id: z.string() }) });

let sandbox: Sandbox;
let folder: string;

beforeAll(async () => {
  const started = await startInFolder();
  ({ sandbox, folder } = started);
  return started.end;
});

test("every command's help has an example that it accepts, and every command prints JSON with --json", () => {
  const commands = commandsOf(createProgram(process));
  expect(commands.length).toBeGreaterThan(15);
  for (const { path, command } of commands) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const example = exampleOfCommand(path).replace(/ >.*/, "").split(" ").slice(1);
    expect(help).toContain(`Example:\n  ${exampleOfCommand(path)}`);
    for (const { defaultValueDescription: value } of [...command.options, ...command.registeredArguments])
      if (value !== undefined) expect(help.replaceAll(/\s+/g, " "), path).toContain(`default: ${value})`);
    const given = example.slice(path.split(" ").length);
    expect(() => command.parseOptions(given)).not.toThrow();
    expect(command.parseOptions(given).unknown, path).toEqual([]);
    if (!["completion", "mcp"].includes(path)) expect(help, path).toContain("--json");
  }
});

test("trace writes an HTML file and a snapshot file next to it, and says how to open it", async () => {
  const [file, snapshot] = [join(folder, "checkout.trace.html"), join(folder, "checkout.snapshot")];
  expect(await runCli("trace", file, "--data-dir", folder)).toBe(
    `Wrote ${file}, and ${snapshot}, which contains test keys. To open the trace: npm run -s sandbox -- open ${file}\n`,
  );
  expect(await readFile(file, "utf8")).toMatch(/^<!doctype html>/i);
  expect(existsSync(snapshot)).toBe(true);
});

test("fault set --occurrence sets a fault that acts from that match on", async () => {
  const words = ["--operation", "executeRefund", "--occurrence", "2", "--data-dir", folder];
  expect(await runCli("fault", "set", "answer-lost", ...words)).toContain(
    "for operation executeRefund, occurrence 2; has acted 0 times",
  );
  await runCli("fault", "clear", "--data-dir", folder);
});

test("fault set --count always sets a fault that acts until it is cleared", async () => {
  await runCli("fault", "set", "slow", "--count", "always", "--data-dir", folder);
  expect(sandbox.faults.list()).toMatchObject([{ remaining: null }]);
  await runCli("fault", "clear", "--data-dir", folder);
  expect(sandbox.faults.list()).toEqual([]);
});

test("resume continues an operation that needs attention", async () => {
  const storefront = await Storefront.open(sandbox.description);
  const [first, stopped] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  await send(sandbox.description, storefront.credential, first);
  await sandbox.faults.set({ layer: "relayer", point: "nonce", action: "foreign_nonce" });
  const { text } = await send(sandbox.description, storefront.credential, stopped);
  const { detail, operation } = refusal.parse(JSON.parse(text));
  const { operation_id } = operation;
  expect(detail).toBe(
    `Other software has signed with the operator's key, so ${operation_id} was not signed. Run \`routing-sandbox resume ${operation_id}\`, then send the identical request again.`,
  );
  const resumed = await runCli("resume", operation_id, "--data-dir", folder);
  expect(resumed).toBe(`${operation_id} is confirmed now.\n`);
});

test("resume --abandon gives up an operation whose nonce was taken", async () => {
  const storefront = await Storefront.open(sandbox.description);
  const [first, taken] = [await storefront.prepare("offer"), await storefront.prepare("offer")];
  await send(sandbox.description, storefront.credential, first);
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  const { text } = await send(sandbox.description, storefront.credential, taken);
  const { detail, operation } = refusal.parse(JSON.parse(text));
  const { operation_id } = operation;
  expect(detail).toContain(`Run \`routing-sandbox resume ${operation_id} --abandon\`, then`);
  const still = await runCli("resume", operation_id, "--data-dir", folder);
  expect(still).toBe(`${operation_id} is needs_attention now: nonce_taken.\n`);
  const abandoned = await runCli("resume", operation_id, "--abandon", "--data-dir", folder);
  expect(abandoned).toBe(
    `The attempt of ${operation_id} is abandoned. Send its request again to start attempt 2.\n`,
  );
  expect((await send(sandbox.description, storefront.credential, taken)).status).toBe(200);
});

test("keys rotate changes the secret in sandbox.json", async () => {
  const { hmac_secret } = sandbox.description.receiver;
  const answer = await runCli("keys", "rotate", "notifications", "--json", "--data-dir", folder);
  expect(JSON.parse(answer)).toEqual({ rotated: ["notifications"] });
  const file = JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"));
  expect(file.receiver.hmac_secret).toMatch(/^whsec_/);
  expect(file.receiver.hmac_secret).not.toBe(hmac_secret);
});

test("keys rotate without a use replaces all keys", async () => {
  expect(await runCli("keys", "rotate", "--data-dir", folder)).toBe(
    "New keys sign notifications and receipts and reviewer from now on; sandbox.json has the new secret.\n",
  );
});

test("given creates a merchant and a purchase in a state, in the running sandbox", async () => {
  const merchant = ["given", "merchant", "--state", "funded", "--wallet", "other_merchant"];
  const made = JSON.parse(await runCli(...merchant, "--json", "--data-dir", folder));
  expect(made.merchant).toMatchObject({ status: "enrolled", program: "prg_demo" });
  expect(await runCli(...merchant, "--data-dir", folder)).toBe(
    `${made.merchant.id} of prg_demo is enrolled.\n`,
  );
  const purchase = ["given", "purchase", "--state", "refunded", "--route", "merchant_direct", "--permit"];
  const amounts = ["--amount", "9000000", "--paid", "8000000", "--claimed", "7000000", "--award", "6000000"];
  const of = ["--merchant", made.merchant.id, "--buyer", "other_buyer", "--data-dir", folder];
  const given = JSON.parse(await runCli(...purchase, ...amounts, ...of, "--json"));
  expect(given).toMatchObject({
    merchant: { id: made.merchant.id },
    purchase: { amount: "9000000", route: "merchant_direct", payment_status: "partially_paid" },
    payments: [{ amount: "8000000" }],
    claim: { requested_amount: "7000000" },
    decision: { award: "6000000" },
    refund: { status: "collected" },
  });
  const { id, commitment } = JSON.parse(
    await runCli("given", "purchase", "--state", "expired", ...of, "--json"),
  ).purchase;
  expect(await runCli("given", "purchase", "--state", "expired", ...of)).toMatch(
    /^pur_[a-z2-7]{20} of mer_[a-z2-7]{20} is active, expired; commitment 0x[0-9a-f]{64}\.\n$/,
  );
  expect([id, commitment.hash]).toEqual([expect.stringMatching(/^pur_/), expect.stringMatching(/^0x/)]);
});

test("deliver delivers every undelivered event of the running sandbox", async () => {
  const deliver = async (...flags: string[]) => await runCli("deliver", ...flags, "--data-dir", folder);
  await deliver();
  expect(await deliver()).toBe("Events delivered: 0; exhausted: 0.\n");
  const merchant = ["given", "merchant", "--state", "pending", "--wallet", "stranger", "--data-dir", folder];
  const { event_id } = JSON.parse(await runCli(...merchant, "--json")).merchant;
  const { notifications } = JSON.parse(await deliver("--json"));
  expect(notifications).toMatchObject([{ event_id, status: "delivered" }]);
});

test("deliver says why an event is exhausted and what to do, and exits with 1", async () => {
  const deliver = ["deliver", "--data-dir", folder];
  const merchant = ["given", "merchant", "--state", "pending", "--wallet", "deployer", "--data-dir", folder];
  const undelivered = async () => JSON.parse(await runCli(...merchant, "--json")).merchant.event_id;
  await runCli(...deliver);
  const todo = (event: string) =>
    `${sandbox.description.receiver.url} did not accept ${event}, and an exhausted event gets no further attempt. ` +
    "Correct the receiver (or clear its faults with fault clear) for later events, and read the purchase or merchant of this one from the API.\n";

  const answered = await undelivered();
  await sandbox.faults.set({
    layer: "delivery",
    action: "answer",
    status: 503,
    body: "later\u001b",
    count: 5,
  });
  await expect(runCli(...deliver)).rejects.toMatchObject({
    code: 1,
    stdout: `Events delivered: 0; exhausted: 1.\n  ${answered}: 5 attempts; the last one got status 503: later\\u001b\n`,
    stderr: todo(answered),
  });

  const dropped = await undelivered();
  await sandbox.faults.set({ layer: "delivery", action: "reset", count: 5 });
  await expect(runCli(...deliver)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(`${dropped}: 5 attempts; the last one got no response: .+\n$`),
    stderr: todo(dropped),
  });

  const gone = await undelivered();
  await sandbox.faults.set({ layer: "delivery", action: "answer", status: 410 });
  await expect(runCli(...deliver, "--json")).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^\{"notifications":.*"status":"exhausted".*\}\n$/),
    stderr: todo(gone),
  });
});

test("fault set takes the headers and the body of a receiver's answer", async () => {
  const answer = ["--layer", "delivery", "--action", "answer", "--status", "429", "--body", "later"];
  const headers = ["--header", "Retry-After: 3", "--header", "x-one: a: b"];
  await runCli("fault", "set", ...answer, ...headers, "--data-dir", folder);
  expect(sandbox.faults.list().at(-1)).toMatchObject({
    status: 429,
    headers: { "Retry-After": "3", "x-one": "a: b" },
    body: "later",
  });
  await sandbox.faults.clear();
});

test("fault set takes the point of a fault that it names", async () => {
  const set = async (...flags: string[]) => await runCli("fault", "set", ...flags, "--data-dir", folder);
  await set("reorg", "--point", "after_mined", "--depth", "1");
  await set("crash", "--point", "before_commit");
  expect(sandbox.faults.list().slice(-2)).toMatchObject([
    { layer: "relayer", point: "after_mined", action: "reorg" },
    { layer: "api", point: "before_commit", action: "crash" },
  ]);
  await sandbox.faults.clear();
});

test("fault set names the flag of an id that does not fit", async () => {
  const set = async (...flags: string[]) => await runCli("fault", "set", ...flags, "--data-dir", folder);
  const subject = ["--subject", "mer_1"];
  await expect(set("answer-lost", "--operation", "createMerchant", ...subject)).rejects.toMatchObject({
    stderr: expect.stringContaining(
      '--subject is "mer_1", and the path of createMerchant has no id. Leave out --subject.',
    ),
  });
  await expect(set("crash", "--relay-operation", "op_1")).rejects.toMatchObject({
    stderr: expect.stringContaining("A fault of the layer api does not take --relay-operation."),
  });
});

test("given says what is wrong with an option and what to do", async () => {
  const given = ["given", "purchase", "--data-dir", folder];
  await expect(runCli(...given, "--state", "payed")).rejects.toMatchObject({
    stderr: expect.stringContaining("Allowed choices are created, active, partially_paid, paid,"),
  });
  await expect(runCli(...given, "--state", "active", "--permit")).rejects.toMatchObject({
    code: 1,
    stderr:
      "--permit does not apply to the state active. Leave out --permit, or choose a state that it applies to: partially_paid, paid, reconciled, claimed, approved, denied, refund_due or refunded.\n",
  });
  await expect(runCli(...given, "--state", "created", "--route", "merchant_direct")).rejects.toMatchObject({
    stderr:
      '--route "merchant_direct" does not apply to the state created. Leave out --route, or choose a state that it applies to: active, partially_paid, paid, reconciled, claimed, approved, denied, refund_due, refunded or expired.\n',
  });
});

test("logs and open say what is wrong with an argument and what to do", async () => {
  await expect(runCli("logs", "--status", "99x", "--data-dir", folder)).rejects.toMatchObject({
    code: 1,
    stderr: '--status must be a status such as 409, a class such as 4xx, or "lost", not "99x".\n',
  });
  await expect(runCli("open", join(folder, "none.trace.html"))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^The trace .+ cannot be read: .+\. Name a file that ends in \.trace\.html\.\n$/,
    ),
  });
});

test("demo says which node to name if the public one does not respond, and runs on the one that is named", {
  tags: "thorough",
}, async () => {
  const node = await startAutominingAnvil();
  onTestFinished(node.stop);
  const { folder: directory, ...network } = await deployOn(node.url);
  const dataDirectory = join(directory, "data");
  const publicRpcUrl = "http://127.0.0.1:9";
  await using _sandbox = await createSandbox({ network: { ...network, publicRpcUrl }, dataDirectory });
  const demo = ["demo", "--data-dir", dataDirectory];
  const refused = await tryCli(demo);
  expect(refused.stderr).toBe(
    `There is no response from ${publicRpcUrl}, which the wallets of the demo use. If the service is connected to a node, name that one with --rpc-url; otherwise see routing-sandbox status.\n`,
  );
  expect(refused.code).toBe(1);
  expect(await runCli(...demo, "--rpc-url", node.url)).toContain("Done. Token 0x");
});

test("demo prints each step as a line of JSON", async () => {
  const lines = (await runCli("demo", "--json", "--data-dir", folder)).trimEnd().split("\n");
  const steps = lines.map((line) => JSON.parse(line));
  expect(steps[0]).toEqual({ section: "A purchase, from enrollment to refund" });
  expect(steps.filter(({ step }) => step !== undefined).length).toBeGreaterThan(20);
});

/** Returns the completion script of a shell, which the library prints with console.log. */
async function completionFor(shell: string): Promise<string> {
  const log = vi.spyOn(console, "log").mockReturnValue();
  await runCli("completion", shell);
  const [script] = log.mock.lastCall ?? [];
  log.mockRestore();
  return String(script);
}

test("bash completes values of options and arguments", async () => {
  const program = join(folder, "routing-sandbox");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  await chmod(program, 0o755);
  await writeFile(join(folder, "completion.bash"), await completionFor("bash"));
  // The arguments that bash-completion passes to a completion function: the words, and the index of the current word.
  const script = `
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword - 1]}; }
    compopt() { :; }
    source "${folder}/completion.bash"
    completed() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); __routing_sandbox_complete; echo "\${COMPREPLY[@]}"; }
    completed routing-sandbox start --mode ""
    completed routing-sandbox fault set answer
  `;
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  const { stdout } = await execute("bash", ["-c", script], { env });
  expect(stdout.split("\n")).toEqual(["live deterministic", "answer-lost", ""]);
});

test.for(["zsh", "fish"])("there is a completion script for %s", async (shell) => {
  expect(await completionFor(shell)).toContain("routing-sandbox complete --");
});
