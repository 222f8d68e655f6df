import { render } from "../vendor/lit-html/lit-html.js";
import { parseAmount } from "./amount.ts";
import { findAttempt } from "./attempt.ts";
import { codeOf, connect, look, switchChain } from "./connection.ts";
import { discoverWallets, type OfferedWallet, testKeys } from "./injected-wallets.ts";
import { emptyState, fillInAmounts } from "./page-state.ts";
import { asHex, type Progress, perform, submitUntilDecided } from "./perform.ts";
import type { Deeds } from "./view-action.ts";
import { viewPage } from "./view-page.ts";
import { type ActionName, hasAmount, RefusedError, readCapabilities, readWallet } from "./wallet-api.ts";

const main = document.querySelector("main");
if (main === null) throw new Error("The page has no main element.");
const rpcUrl = document.querySelector<HTMLMetaElement>('meta[name="rpc-url"]')?.content ?? "";
const sandboxKeys = testKeys(rpcUrl);
const sandbox = sandboxKeys.provider;
const state = emptyState([sandboxKeys]);

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
      return await look(wallet, sandbox);
    });
  },
  async wish(name, wish) {
    const own = state.actions[name];
    own.wish = { ...own.wish, ...wish };
    own.planned = plan(name);
    await own.planned;
  },
  async perform(name) {
    const { connection, capabilities, actions } = state;
    const own = actions[name];
    // What is done is what was typed last.
    await own.planned;
    if (own.busy || own.mistake !== null) return;
    const { wallet } = state;
    const action = wallet?.actions.find((one) => one.name === name);
    if (action === undefined || connection === null || capabilities === null) return;
    const { chain } = capabilities;
    own.uncertain = false;
    await run(name, async (report) => {
      await perform({ action, ...wishInBaseUnits(name), connection, sandbox, chain, report });
    });
  },
  async enterHash(name, hash) {
    const attempt = findAttempt(name);
    if (attempt === null) return;
    state.actions[name].uncertain = false;
    const sent = { ...attempt, transaction_hash: asHex(hash) };
    await run(name, async (report) => await submitUntilDecided(sent, report));
  },
  async reload() {
    state.failure = null;
    await load();
  },
};

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
  try {
    state.capabilities ??= await readCapabilities();
    state.symbol = state.capabilities.contracts.token.symbol;
    state.wallet = await readWallet();
    fillInAmounts(state);
  } catch (error) {
    state.failure =
      error instanceof RefusedError ? error.message : "The service does not answer. Is the sandbox running?";
  }
  show();
}

async function seeWallet(
  wallet: OfferedWallet,
  see: (wallet: OfferedWallet, chain: typeof sandbox) => ReturnType<typeof look>,
): Promise<void> {
  state.connectionFailure = null;
  try {
    state.connection = await see(wallet, sandbox);
  } catch (error) {
    const said = error instanceof Error ? error.message : "it gave no reason";
    state.connectionFailure =
      codeOf(error) === 4001 ? `You declined in ${wallet.name}.` : `${wallet.name} refused: ${said}`;
  }
  show();
}

/** Asks the service for the bytes of what was typed; the answer for what was typed before it does not count any more. */
async function plan(name: ActionName): Promise<void> {
  const own = state.actions[name];
  const asked = own.wish;
  const { token } = state.capabilities?.contracts ?? {};
  if (token === undefined || state.wallet === null) return;
  const parsed = parseAmount(own.wish.amount ?? "", token);
  own.mistake = "error" in parsed ? parsed.error : null;
  if (own.mistake === null) {
    show();
    try {
      const { actions } = await readWallet(wishInBaseUnits(name));
      if (own.wish !== asked) return;
      const planned = actions.find((action) => action.name === name);
      if (planned?.allowed === false) own.mistake = planned.why_not;
      else
        state.wallet.actions = state.wallet.actions.map((action) =>
          action.name === name && planned !== undefined ? planned : action,
        );
    } catch (error) {
      if (own.wish !== asked) return;
      own.mistake = error instanceof RefusedError ? error.message : "The service does not answer.";
    }
  }
  show();
}

function wishInBaseUnits(name: ActionName): { amount?: string; reason?: string } {
  const { amount, reason } = state.actions[name].wish;
  const { token } = state.capabilities?.contracts ?? {};
  if (token === undefined || !hasAmount(name)) return {};
  const parsed = parseAmount(amount ?? "", token);
  return {
    ...("error" in parsed ? {} : { amount: parsed.baseUnits }),
    ...(name === "claim" && reason ? { reason } : {}),
  };
}

/** Does something about an action, shows how it goes, and reads afterwards what there is to do next. */
async function run(
  name: ActionName,
  work: (report: (progress: Progress) => void) => Promise<void>,
): Promise<void> {
  const own = state.actions[name];
  own.busy = true;
  show();
  await work((progress) => {
    own.progress = progress;
    show();
  });
  own.busy = false;
  if (own.progress?.at === "accepted")
    for (const other of Object.values(state.actions)) {
      const { amount: _done, ...wish } = other.wish;
      other.wish = wish;
    }
  await load();
}

/** Continues with what was under way when the page was closed. */
function resume(): void {
  for (const { name } of state.wallet?.actions ?? []) {
    const attempt = findAttempt(name);
    if (attempt?.transaction_hash !== undefined)
      void run(name, async (report) => await submitUntilDecided(attempt, report));
    else if (attempt?.sending === true) state.actions[name].uncertain = true;
  }
  show();
}

discoverWallets((wallet) => {
  state.offered.unshift(wallet);
  const lookAgain = () => {
    if (state.connection?.wallet.id === wallet.id) void seeWallet(wallet, look);
  };
  wallet.provider.on?.("accountsChanged", lookAgain);
  wallet.provider.on?.("chainChanged", lookAgain);
  show();
});
show();
await load();
resume();
