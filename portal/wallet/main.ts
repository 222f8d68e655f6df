import { render } from "../vendor/lit-html/lit-html.js";
import { type ActionInput, isAmountMissing, parseInput, writeInput } from "./action-input.ts";
import { codeOf, connect, readConnection, switchChain } from "./connection/connection.ts";
import { discoverWallets, type OfferedWallet, testKeys } from "./connection/injected-wallets.ts";
import { openNext } from "./next-action.ts";
import { type ActionState, emptyState } from "./page-state.ts";
import { findAttempt, forgetAttempt, runExclusive, untilFree } from "./sending/attempt.ts";
import { asHex, type Progress, perform, submitUntilDecided } from "./sending/perform.ts";
import { keepFocus } from "./step-focus.ts";
import type { Deeds } from "./views/action.ts";
import { viewPage } from "./views/page.ts";
import { isPaid } from "./views/summary.ts";
import {
  type ActionName,
  hasAmount,
  RefusedError,
  readAction,
  readCapabilities,
  readWalletView,
} from "./wallet-api.ts";

const main = document.querySelector("main");
if (main === null) throw new Error("The page has no main element.");
const rpcUrl = document.querySelector<HTMLMetaElement>('meta[name="rpc-url"]')?.content ?? "";
const sandboxKeys = testKeys(rpcUrl);
const sandbox = sandboxKeys.provider;
// Another node than the sandbox's own has none of its test keys.
const isOwnNode = URL.parse(rpcUrl)?.hostname === location.hostname;
const state = emptyState(isOwnNode ? [sandboxKeys] : []);

const deeds: Deeds = {
  async connect(walletId) {
    const wallet = state.offered.find(({ id }) => id === walletId);
    if (wallet !== undefined) await seeWallet(wallet, connect);
  },
  async switchChain() {
    const { connection, capabilities } = state;
    if (connection === null || capabilities === null) return;
    await seeWallet(connection.wallet, async (wallet) => {
      await switchChain(wallet, capabilities.chain);
      return await readConnection(wallet, sandbox);
    });
  },
  async input(name, input) {
    setWish(name, input);
    await state.actions[name].planning;
  },
  async perform({ name, amount: shown }) {
    const own = state.actions[name];
    await untilPlanned(own);
    const { connection, capabilities, wallet } = state;
    const action = own.planned ?? wallet?.actions.find((offered) => offered.name === name);
    if (own.busy || own.mistake !== null || isAmountMissing(own.input)) return;
    if (!action?.allowed || connection === null || capabilities === null || wallet === null) return;
    // The action uses the amount that was typed last or, where none was typed, the amount that the page showed.
    if (own.input.amount === undefined && action.amount !== shown) return;
    const { chain, contracts } = capabilities;
    own.input = { ...own.input, ...writeInput(action, contracts.token) };
    own.uncertain = false;
    const { submissions: submitted } = wallet;
    await keepFocus(name, state, async () => {
      await run(
        name,
        async (report) => await perform({ action, connection, sandbox, chain, submitted, report }),
      );
      if (name === "pay_with_permit" && action.transaction === undefined) await payUnderPermit();
    });
  },
  async enterHash(name, hash) {
    const own = state.actions[name];
    const submit = async (report: (progress: Progress) => void) => {
      const attempt = findAttempt(name);
      if (attempt === null) return;
      own.uncertain = false;
      await submitUntilDecided({ ...attempt, transaction_hash: asHex(hash) }, report);
      // Until one is accepted, the wallet may have sent a transaction whose hash is another one.
      if (own.progress?.at === "accepted") forgetAttempt(attempt);
      else own.uncertain = true;
    };
    await keepFocus(name, state, async () => await run(name, submit));
  },
  async reload() {
    state.failure = null;
    await load();
  },
};

/** Sends the payment under a permit that the service has just accepted: signing and paying are one step for a person. */
async function payUnderPermit(): Promise<void> {
  const { progress } = state.actions.pay_with_permit;
  const offered = state.wallet?.actions.find(({ name }) => name === "pay_with_permit");
  if (progress?.at !== "accepted" || offered?.transaction === undefined) return;
  await deeds.perform(offered);
}

main.replaceChildren();

/** Whether the pointer is pressed: what is shown stays as it is until it is released, or a click would miss its button. */
let pressed = false;
addEventListener("pointerdown", ({ button }) => {
  pressed = button === 0;
});
for (const end of ["pointerup", "pointercancel", "blur"])
  addEventListener(end, () => {
    if (!pressed) return;
    // The click follows the release in the same task.
    setTimeout(() => {
      pressed = false;
      show();
    });
  });

function show(): void {
  if (main !== null && !pressed) render(viewPage(state, deeds), main);
}

/** Reads everything again and shows it. */
async function load(): Promise<void> {
  let isPaidNow = false;
  try {
    state.capabilities ??= await readCapabilities();
    const before = state.wallet?.subject;
    state.wallet = await readWalletView();
    openNext(state, state.wallet);
    isPaidNow = before !== undefined && !isPaid(before) && isPaid(state.wallet.subject);
    const typed = state.wallet.actions.filter(
      ({ name }) => Object.keys(state.actions[name].input).length > 0,
    );
    for (const { name } of typed) setWish(name, {});
    await Promise.all(typed.map(async ({ name }) => await state.actions[name].planning));
  } catch (error) {
    state.failure =
      error instanceof RefusedError ? error.message : "The service does not respond. Is the sandbox running?";
  }
  show();
  // The heading says it.
  if (isPaidNow) scrollTo(0, 0);
}

let isReadingAgain = false;

/** Reads again what may have changed elsewhere. An action in progress reads again by itself at its end. */
async function readAgain(): Promise<void> {
  const isFirst = state.wallet === null && state.failure === null;
  if (isReadingAgain || isFirst || document.hidden) return;
  if (Object.values(state.actions).some(({ busy }) => busy)) return;
  isReadingAgain = true;
  await deeds.reload();
  isReadingAgain = false;
}

addEventListener("focus", () => void readAgain());
document.addEventListener("visibilitychange", () => void readAgain());

async function seeWallet(
  wallet: OfferedWallet,
  see: (wallet: OfferedWallet, chain: typeof sandbox) => ReturnType<typeof readConnection>,
): Promise<void> {
  state.connectionFailure = null;
  // The test keys answer at once, and so does a wallet that is only read.
  state.waitsFor = wallet.test || see === readConnection ? null : wallet;
  show();
  try {
    state.connection = await see(wallet, sandbox);
  } catch (error) {
    const said = error instanceof Error ? error.message : "it gave no reason";
    state.connectionFailure =
      codeOf(error) === 4001 ? `You declined in ${wallet.name}.` : `${wallet.name} refused: ${said}`;
  }
  state.waitsFor = null;
  show();
}

/** Changes what is typed, and asks the service for its bytes. */
function setWish(name: ActionName, input: ActionInput): void {
  const own = state.actions[name];
  own.input = { ...own.input, ...input };
  own.planning = plan(name);
}

/** Waits for the bytes of what was typed last; more may be typed while it waits. */
async function untilPlanned(own: ActionState): Promise<void> {
  let awaited: Promise<void>;
  do {
    awaited = own.planning;
    await awaited;
  } while (awaited !== own.planning);
}

/** Asks the service for the bytes of the current input; the answer to an earlier input no longer counts. */
async function plan(name: ActionName): Promise<void> {
  const own = state.actions[name];
  const asked = own.input;
  const { token } = state.capabilities?.contracts ?? {};
  if (token === undefined) return;
  const parsed = isAmountMissing(asked) ? null : parseInput(asked, token);
  const isReadable = parsed !== null && !("error" in parsed);
  own.mistake = parsed !== null && "error" in parsed ? parsed.error : null;
  if (!isReadable) own.planned = null;
  show();
  if (!isReadable) return;
  try {
    const planned = await readAction(name, parsed);
    // An action that is not possible with this input may no longer be possible at all.
    const offered = planned?.allowed === false ? await readAction(name) : undefined;
    if (own.input !== asked || state.wallet === null) return;
    own.planned = planned?.allowed ? planned : null;
    own.mistake = planned?.why_not ?? null;
    if (offered !== undefined)
      state.wallet.actions = state.wallet.actions.map((action) => (action.name === name ? offered : action));
  } catch (error) {
    if (own.input !== asked) return;
    own.mistake = error instanceof RefusedError ? error.message : "The service does not respond.";
  }
  show();
}

/** Performs a step of an action, shows its progress, and reads the actions again afterwards. */
async function run(
  name: ActionName,
  work: (report: (progress: Progress) => void) => Promise<void>,
): Promise<void> {
  const own = state.actions[name];
  const report = (progress: Progress | null) => {
    own.progress = progress;
    show();
  };
  own.busy = true;
  show();
  if (!(await runExclusive(name, async () => await work(report)))) {
    report({ at: "elsewhere" });
    await untilFree(name);
    report(null);
    await load();
    own.busy = false;
    show();
    resume(name);
    return;
  }
  // A second click must not repeat an accepted action: the next amount has to be typed.
  if (own.progress?.at === "accepted" && own.progress.transactionHash !== null && hasAmount(name))
    own.input = { ...own.input, amount: "" };
  await load();
  own.busy = false;
  show();
}

/** Continues an action that was in progress when the page was closed, or in another tab. */
function resume(name: ActionName): void {
  const { capabilities, actions } = state;
  const kept = findAttempt(name);
  if (capabilities === null || kept === null || !(kept.transaction_hash !== undefined || kept.sending))
    return;
  if (hasAmount(name)) setWish(name, writeInput(kept, capabilities.contracts.token));
  void run(name, async (report) => {
    const attempt = findAttempt(name);
    if (attempt?.transaction_hash !== undefined) await submitUntilDecided(attempt, report);
    else actions[name].uncertain = attempt?.sending ?? false;
  });
}

/** Looks, for as long as the page is open, whether the chain still knows the transactions that are shown as accepted. */
async function watchAccepted(): Promise<void> {
  let missing: string[] = [];
  // The service may not answer while a reorg is in progress.
  let isLoaded = true;
  for (let first = true; ; first = false) {
    const isSuspect = missing.some((hash) => !state.lost.has(hash));
    if (!first) await new Promise((resolve) => setTimeout(resolve, isSuspect ? 250 : 1000));
    if (document.hidden) continue;
    // Anvil knows a transaction neither as waiting nor as mined for a moment while it mines it: it counts as gone when it is so twice.
    const before = missing;
    missing = await findMissing(shownHashes()).catch(() => []);
    const lost = missing.filter((hash) => before.includes(hash));
    if (isLoaded && lost.length === state.lost.size && lost.every((hash) => state.lost.has(hash))) continue;
    const found = [...state.lost].filter((hash) => !lost.includes(hash));
    state.lost = new Set(lost);
    for (const own of Object.values(state.actions)) {
      const { progress } = own;
      if (progress?.at === "accepted" && lost.some((hash) => hash === progress.transactionHash))
        own.progress = { at: "unknown", transactionHash: progress.transactionHash ?? "" };
      else if (progress?.at === "unknown" && found.includes(progress.transactionHash)) own.progress = null;
    }
    await deeds.reload();
    isLoaded = state.failure === null;
  }
}

/** The transactions that are shown as accepted, or as gone. */
function shownHashes(): string[] {
  const submitted = state.wallet?.submissions.map(({ transaction_hash }) => transaction_hash) ?? [];
  const reported = Object.values(state.actions).map(({ progress }) =>
    progress?.at === "accepted" || progress?.at === "unknown" ? progress.transactionHash : null,
  );
  return [...new Set([...submitted, ...reported])].filter((hash) => hash !== null);
}

async function findMissing(hashes: readonly string[]): Promise<string[]> {
  const known = await Promise.all(
    hashes.map(async (hash) => await sandbox.request({ method: "eth_getTransactionByHash", params: [hash] })),
  );
  return hashes.filter((_, index) => known[index] === null);
}

discoverWallets((wallet) => {
  state.offered.unshift(wallet);
  const lookAgain = () => {
    if (state.connection?.wallet.id !== wallet.id) return;
    void seeWallet(wallet, readConnection);
    void readAgain();
  };
  wallet.provider.on?.("accountsChanged", lookAgain);
  wallet.provider.on?.("chainChanged", lookAgain);
  show();
});
show();
await load();
for (const { name } of state.wallet?.actions ?? []) resume(name);
void watchAccepted();
