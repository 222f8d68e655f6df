import type { SharedPaths } from "../lib/http/cors.ts";
import { anyPage, localPagesWrite, ownPages, walletPages } from "../lib/http/host-and-origin.ts";

/** The web pages that may call each port of a sandbox. */
export const pagesOf = {
  api: localPagesWrite,
  docs: anyPage,
  control: ownPages,
  rpc: walletPages,
  receiver: ownPages,
};

/** The paths that pages of other origins may read: a checkout page of this machine calls the chain and the wallet routes as the wallet page does. */
export const sharedPaths: { readonly [part: string]: SharedPaths } = {
  api: { prefix: "/wallet/", methods: ["GET", "POST"], pages: walletPages },
  rpc: { prefix: "/", methods: ["POST"], pages: walletPages },
};
