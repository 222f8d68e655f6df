import { anyPage, localPagesWrite, ownPages, walletPages } from "../lib/http/host-and-origin.ts";

/** The web pages that may call each port of a sandbox. */
export const pagesOf = {
  api: localPagesWrite,
  docs: anyPage,
  control: ownPages,
  rpc: walletPages,
  receiver: ownPages,
};
