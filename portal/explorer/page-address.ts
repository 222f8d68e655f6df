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
  return { view: decode(view), id: decode(id), query: new URLSearchParams(search) };
}

/** Decodes a part of an address; one that is malformed is taken as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view; what is empty is left out. */
export function hrefTo(view: string, id = "", query: { [name: string]: string | null } = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const search = new URLSearchParams(given).toString();
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}
