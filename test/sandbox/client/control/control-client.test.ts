import { expect } from "vitest";
import {
  createControlClient,
  ProblemError,
  unwrap,
} from "../../../../sandbox/client/control/control-client.ts";
import { sandboxTest } from "../../../../testkit/vitest.ts";

const test = sandboxTest({ seed: "control-client" });

test("the client of the control API returns typed data of every kind of request", async ({ sandbox }) => {
  const control = createControlClient(sandbox.description.urls.control);
  const { now } = unwrap(await control.GET("/status"));
  expect(unwrap(await control.POST("/clock", { body: { seconds: 60 } }))).toEqual({ now: now + 60 });
  const given = unwrap(await control.POST("/given", { body: { purchase: { state: "paid" } } }));
  expect("purchase" in given && given.purchase.status).toBe("active");
  const { data } = unwrap(
    await control.GET("/explorer/purchases", { params: { query: { status: "active" } } }),
  );
  expect(data).toHaveLength(1);
  const { number } = unwrap(await control.POST("/snapshots"));
  const params = { path: { number } };
  expect(unwrap(await control.POST("/snapshots/{number}/restore", { params })).data).toHaveLength(1);
  expect(unwrap(await control.POST("/blocks")).block_number).toBeGreaterThan(0);
});

test("the client of the control API returns the stream of events as soon as it begins", async ({
  sandbox,
}) => {
  const control = createControlClient(sandbox.description.urls.control);
  const { response } = await control.GET("/stream", { parseAs: "stream" });
  const reader = response.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  await reader?.cancel();
});

test("unwrap throws a refusal of the control API as a ProblemError with its code and every finding", async ({
  sandbox,
}) => {
  const control = createControlClient(sandbox.description.urls.control);
  const refused = control.POST("/clock", { body: { seconds: -1 } }).then(unwrap);
  const error: unknown = await refused.catch((reason: unknown) => reason);
  if (!(error instanceof ProblemError)) throw new Error(`No ProblemError: ${error}`);
  expect(error).toMatchObject({ status: 422, code: "validation_failed", requestId: "", checks: [] });
  expect(error.message).toBe(
    "The API responded with 422 validation_failed: /seconds must be more than 0, not -1",
  );
});

test("the client of the control API refuses a path with an unfilled parameter before it sends", async ({
  sandbox,
}) => {
  const control = createControlClient(sandbox.description.urls.control);
  const params = { path: JSON.parse("{}") };
  await expect(control.GET("/explain/{hash}", { params })).rejects.toThrow("Pass hash in params.path.");
});
