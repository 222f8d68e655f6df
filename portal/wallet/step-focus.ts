import { nextOf } from "./next-action.ts";
import type { PageState } from "./page-state.ts";
import { isPaid } from "./views/summary.ts";
import type { ActionName } from "./wallet-api.ts";

/**
 * Keeps the focus where a person continues, because the button of a step is disabled while the step runs: at the state of the step, then at the
 * button of the next one, or at the heading when there is none.
 *
 * @param work - the step; focus that is moved elsewhere meanwhile stays there.
 */
export async function keepFocus(
  name: ActionName,
  state: PageState,
  work: () => Promise<void>,
): Promise<void> {
  const status = document.getElementById(`${name}-status`);
  if (document.getElementById(`action-${name}`)?.contains(document.activeElement) !== true)
    return await work();
  status?.focus({ preventScroll: true });
  await work();
  const { activeElement } = document;
  if (activeElement !== status && activeElement !== document.body) return;
  const { wallet } = state;
  const isDone = state.actions[name].progress?.at === "accepted";
  const next = isDone && wallet !== null ? nextOf(wallet) : name;
  const isOver = wallet === null || next === null || (isDone && isPaid(wallet.subject));
  const place = isOver ? "h1" : `#action-${next} button.primary:not(:disabled)`;
  document.querySelector<HTMLElement>(place)?.focus();
}
