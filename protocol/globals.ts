/**
 * Globals of JavaScript's host as they were when the package was loaded. The sandbox runs in the process of the tests, which remove globals or replace
 * them with stubs and polyfills.
 */
export const {
  AbortController,
  AbortSignal,
  FormData,
  Headers,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  fetch,
  structuredClone,
} = globalThis;
