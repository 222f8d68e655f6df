/** The permissions of a page beyond loading its own scripts, styles and pictures. */
export interface PagePermissions {
  /** Origins that its scripts may talk to, besides its own. */
  connect?: readonly string[];
}

/** The headers of every file of a page: nothing may guess its type, or use it from another origin. */
export const assetHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  // Asked for again each time, answered 304 while nothing changed.
  "Cache-Control": "no-cache",
} as const;

/**
 * The headers of a page: no inline script or style, no frame around it, and no request but to the named origins.
 *
 * @example pageHeaders({ connect: ["http://127.0.0.1:8545"] })
 */
export function pageHeaders({ connect = [] }: PagePermissions = {}): { [name: string]: string } {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...connect].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    ...assetHeaders,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}
