const needed = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "FormData",
  "Headers",
  "Request",
  "Response",
  "URL",
];

/**
 * Returns why the package cannot run with the globals that a test environment has left; null if it can.
 *
 * @example explainMissingGlobals({}) // "routing-sandbox needs Node's globals AbortController, …, which are missing here. …"
 */
export function explainMissingGlobals(globals: object = globalThis): string | null {
  const missing = needed.filter((name) => !(name in globals));
  if (missing.length === 0) return null;
  return `routing-sandbox needs Node's own ${missing.join(", ")}, and the test environment has no such global. Import routing-sandbox before they are removed, or in jest set testEnvironment to "routing-sandbox/jest-environment".`;
}
