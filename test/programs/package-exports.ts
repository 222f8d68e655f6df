/** Exports that suites import, which tests run in a test runner of their own. */
export { unwrap } from "../../sandbox/client/api-client.ts";
export { sandboxFixture } from "../../testkit/fixture.ts";
export { sandboxTest } from "../../testkit/vitest.ts";
