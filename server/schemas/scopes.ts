/** Every scope that a credential can hold. */
export const scopes = [
  "records:read",
  "merchants:write",
  "purchases:write",
  "claims:write",
  "decisions:write",
  "refunds:execute",
] as const;

/** A permission of a credential. */
export type Scope = (typeof scopes)[number];
