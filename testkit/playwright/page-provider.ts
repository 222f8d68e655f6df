/** The description of a wallet for a page (EIP-6963), and the name of the function by which the page calls it. */
export interface Announcement {
  info: { uuid: string; name: string; icon: string; rdns: string };

  ask: string;
}

/** The answer to a request of a page: a result, or an error. */
export type PageAnswer = { result: unknown } | { code: number; message: string; data?: unknown };

/** An event of EIP-1193 for the listeners of a page. */
export interface ProviderEvent {
  ask: string;
  event: string;
  payload: unknown;
  /** The origins whose pages get it, or do not. */
  to: { only: string[] } | { except: string[] };
}

/**
 * The parts of Playwright's `Page` that a wallet needs: pages of any version of Playwright have them.
 *
 * @example const page: WalletPage = await context.newPage()
 */
export interface WalletPage {
  /** Adds a function to the page that calls one of the test. */
  exposeFunction(
    name: string,
    callback: (method: string, params: unknown, origin: string) => Promise<PageAnswer>,
  ): Promise<unknown>;
  /** Runs a function in every document of the page, before its own scripts. */
  addInitScript(script: (announcement: Announcement) => void, announcement: Announcement): Promise<unknown>;
  /** Runs a function in the page. */
  evaluate(script: (announcement: Announcement) => void, announcement: Announcement): Promise<unknown>;
  /** Runs a function in the page. */
  evaluate(script: (event: ProviderEvent) => void, event: ProviderEvent): Promise<unknown>;
}

/** The parts of a window that the functions below use: they run in the page. */
interface PageWindow {
  [ask: string]: ((method: string, params: unknown, origin: string) => Promise<PageAnswer>) | undefined;
}
interface PageEvents {
  ethereum?: unknown;
  location: { origin: string };
  addEventListener(type: string, listener: (event: { detail?: unknown }) => void): void;
  dispatchEvent(event: unknown): boolean;
  CustomEvent: new (type: string, init?: { detail: unknown }) => unknown;
}

/** Runs in the page: announces a provider of EIP-1193 as a wallet's extension does. `window.ethereum` is the first one of a page. */
export function announceProvider({ info, ask }: Announcement): void {
  const page = globalThis as unknown as PageEvents;
  const listeners = new Map<string, Set<(payload: unknown) => void>>();
  page.addEventListener(`${ask}:event`, ({ detail }) => {
    const { event, payload } = detail as { event: string; payload: unknown };
    for (const listener of listeners.get(event) ?? []) listener(payload);
  });
  const provider = {
    async request(asked: unknown) {
      const { method, params = [] }: { method?: unknown; params?: unknown } = Object(asked);
      if (typeof method !== "string")
        throw Object.assign(new Error("request takes { method, params }. Pass the name of a method."), {
          code: -32_602,
        });
      const answer = await (globalThis as unknown as PageWindow)[ask]?.(method, params, page.location.origin);
      if (answer === undefined) throw Object.assign(new Error("The test has ended."), { code: 4900 });
      if ("code" in answer) {
        const { message, ...members } = answer;
        throw Object.assign(new Error(message), members);
      }
      return answer.result;
    },
    on(event: string, listener: (payload: unknown) => void) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
      return provider;
    },
    removeListener(event: string, listener: (payload: unknown) => void) {
      listeners.get(event)?.delete(listener);
      return provider;
    },
  };
  const announce = () =>
    page.dispatchEvent(
      new page.CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }),
    );
  page.ethereum ??= provider;
  page.addEventListener("eip6963:requestProvider", announce);
  announce();
}

/** Runs in the page: calls the listeners of an event of EIP-1193. */
export function emitEvent({ ask, event, payload, to }: ProviderEvent): void {
  const page = globalThis as unknown as PageEvents;
  const { origin } = page.location;
  if ("only" in to ? !to.only.includes(origin) : to.except.includes(origin)) return;
  page.dispatchEvent(new page.CustomEvent(`${ask}:event`, { detail: { event, payload } }));
}
