import { errorCatalogue, errorCodes } from "../api/errors/catalogue.ts";
import { apiVersion, documentationVersion } from "../api/versions.ts";
import type { Services } from "../services.ts";
import type { Pages } from "./page-routes.ts";

/**
 * The path of the interactive reference: on the API host, so that requests that it tries have the page's own origin.
 */
export const referencePath = "/reference/";

/** The remedy for each error code, in the wallet page's words. */
const remedies = JSON.stringify(
  Object.fromEntries(errorCodes.map((code) => [code, errorCatalogue[code].remedy.replaceAll("`", "")])),
);

/** The pages of the API host: the reference of both descriptions, and the wallet routes for browsers. */
export function apiPages({ settings }: Pick<Services, "settings">): Pages {
  const { urls } = settings;
  const wallet = {
    file: "wallet/page.html",
    values: { rpc_url: urls.rpc, docs_url: urls.docs, remedies },
    connect: [urls.rpc],
  };
  const paths = ["/wallet/:program/merchant/:id", "/wallet/:program/purchase/:id"];
  const versions = { api_version: apiVersion, docs_version: documentationVersion };
  const reference = {
    file: "reference/page.html",
    values: { docs_url: urls.docs, ...versions },
    connect: [urls.docs],
  };
  return {
    pages: { [referencePath]: reference, ...Object.fromEntries(paths.map((path) => [path, wallet])) },
    negotiated: paths,
    folders: ["style", "vendor", "amounts", "wallet", "reference"],
  };
}
