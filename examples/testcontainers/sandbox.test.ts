import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";

const start = ["node", "node_modules/routing-sandbox/dist/cli/main.js", "start", "--data-dir", "data"];
let container: StartedTestContainer;
before(async () => {
  container = await new GenericContainer("routing-sandbox")
    .withCommand([...start, "--listen", "0.0.0.0", "--allow-host", "localhost"])
    .withExposedPorts(4020, 4022)
    .withWaitStrategy(Wait.forHttp("/health", 4022).forStatusCode(200))
    .start();
});
after(async () => await container.stop());

test("a purchase goes to its refund", async () => {
  const control = `http://localhost:${container.getMappedPort(4022)}`;
  const given = await fetch(`${control}/given`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ purchase: { state: "refunded" } }),
  });
  const { refund } = (await given.json()) as { refund: { status: string } };
  assert.equal(refund.status, "collected");
  const capabilities = await fetch(
    `http://localhost:${container.getMappedPort(4020)}/v1/routing/capabilities`,
  );
  assert.equal(capabilities.status, 200);
});
