// Leases a reset sandbox from `routing-sandbox pool` for each test, in the fixture `sandbox`.
import { test as base } from "@playwright/test";
import type { SandboxDescription } from "routing-sandbox";
import { type ApiClient, createApiClient, unwrap } from "routing-sandbox/client";
import { type ControlClient, createControlClient } from "routing-sandbox/control";

interface LeasedSandbox extends SandboxDescription {
  api: ApiClient["retrying"];
  control: ControlClient;
}

const leases = `${process.env.ROUTING_POOL_URL ?? "http://127.0.0.1:4030"}/leases`;

async function lease(): Promise<{ id: string; sandbox: SandboxDescription }> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(leases, { method: "POST", headers, body: '{"seconds": 300}' });
  if (!response.ok) throw new Error(await response.text());
  return await response.json();
}

export const test = base.extend<{ sandbox: LeasedSandbox }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a destructured first argument.
  sandbox: async ({}, use) => {
    const { id, sandbox } = await lease();
    const { urls, accounts } = sandbox;
    const { credential } = unwrap(
      await createApiClient(urls.api, accounts[0].key).POST("/v1/routing/access", { body: {} }),
    );
    let writes = 0;
    const nextKey = async () => {
      writes += 1;
      return `test-key-${writes}`;
    };
    const api = createApiClient(urls.api, credential, { nextKey }).retrying;
    await use({ ...sandbox, api, control: createControlClient(urls.control) });
    await fetch(`${leases}/${id}`, { method: "DELETE" });
  },
});
