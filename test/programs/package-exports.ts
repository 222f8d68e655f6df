/** What suites that tests run in a test runner of their own import, as from the package. */
export { unwrap } from "../../sandbox/service/client/api-client.ts";
export { sandboxFixture } from "../../testkit/fixture.ts";
export { sandboxTest } from "../../testkit/vitest.ts";
