import { errorCatalogue, errorCodes } from "../errors/catalogue.ts";
import type { Urls } from "../http/services.ts";
import { apiVersion, documentationVersion } from "../schemas/versions.ts";
import type { Page, Pages } from "./page-routes.ts";

/**
 * The path of the interactive reference: on the API host, so that requests that it tries have the page's own origin.
 */
export const referencePath = "/reference/";

/** The remedy for each error code, in the wallet page's words. */
const remedies = JSON.stringify(
  Object.fromEntries(errorCodes.map((code) => [code, errorCatalogue[code].remedy.replaceAll("`", "")])),
);

const walletPaths = ["/wallet/:program/merchant/:id", "/wallet/:program/purchase/:id"];

function walletPage({ rpc, docs }: Urls): Page {
  return { file: "wallet/page.html", values: { rpc_url: rpc, docs_url: docs, remedies }, connect: [rpc] };
}

/** The pages of the API host: the reference of both descriptions, and the wallet routes for browsers. */
export const apiPages: Pages = {
  pages: {
    [referencePath]: ({ docs }) => ({
      file: "reference/page.html",
      values: { docs_url: docs, api_version: apiVersion, docs_version: documentationVersion },
      connect: [docs],
    }),
    ...Object.fromEntries(walletPaths.map((path) => [path, walletPage])),
  },
  negotiated: walletPaths,
  redirects: { "/v1/routing": referencePath },
  folders: ["style", "vendor", "amounts", "wallet", "reference"],
};
