/** The current place in the explorer: the part behind the # of the address. */
export interface PageAddress {
  /** The view's name, empty for the first one. */
  view: string;
  /** The subject of the view, as a purchase's id. */
  id: string;
  query: URLSearchParams;
}

/**
 * Reads the part behind the #.
 *
 * @example parsePageAddress("#/purchases/pur_1?status=active").id // "pur_1"
 */
export function parsePageAddress(hash: string): PageAddress {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", id = ""] = path.split("/");
  return { view, id: decodeURIComponent(id), query: new URLSearchParams(search) };
}

/** The address of a view; what is empty is left out. */
export function hrefTo(view: string, id = "", query: { [name: string]: string | null } = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const search = new URLSearchParams(given).toString();
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}
