import type { Services } from "../services.ts";
import type { Pages } from "./page-routes.ts";

/** The pages of the API host: a wallet route answers JSON to programs and its page to browsers. */
export function apiPages({ settings }: Pick<Services, "settings">): Pages {
  const { urls } = settings;
  const wallet = {
    file: "wallet/page.html",
    values: { rpc_url: urls.rpc, docs_url: urls.docs },
    connect: [urls.rpc],
  };
  const paths = ["/wallet/:program/merchant/:id", "/wallet/:program/purchase/:id"];
  return {
    pages: Object.fromEntries(paths.map((path) => [path, wallet])),
    negotiated: paths,
    folders: ["style", "vendor", "wallet"],
  };
}
