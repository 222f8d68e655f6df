/**
 * Globals of JavaScript's host as they were when the package was loaded. The sandbox runs in the process of the tests, which replace globals with
 * stubs and polyfills.
 */
export const { AbortController, AbortSignal, URL } = globalThis;
