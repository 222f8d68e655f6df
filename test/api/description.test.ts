import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCatalogue } from "../../server/errors/catalogue.ts";
import { codesOfOperation } from "../../server/errors/codes-of-operation.ts";
import { operations } from "../../server/operations/table.ts";
import { eventTypes } from "../../server/outbox/event-types.ts";
import { merchantActions, purchaseActions } from "../../server/schemas/wallet.ts";
import { Stage } from "./stage.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ seed: "description" });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

async function served(url: string): Promise<string> {
  const { urls } = stage.sandbox.description;
  const text = await (await fetch(url)).text();
  return text.replaceAll(urls.api, "http://127.0.0.1:4020").replaceAll(urls.docs, "http://127.0.0.1:4021");
}

async function committed(name: string): Promise<string> {
  return await readFile(`${root}docs/openapi/${name}.json`, "utf8");
}

describe("the descriptions in the repository are those that are served", () => {
  test("of the API, version 1.4.0", async () => {
    const description = JSON.parse(await served(`${stage.base}/v1/routing/openapi.json`));
    expect(description.info.version).toBe("1.4.0");
    expect(description).toEqual(JSON.parse(await committed("routing")));
  });

  test("of the documentation host", async () => {
    const { docs } = stage.sandbox.description.urls;
    expect(JSON.parse(await served(`${docs}/portal/openapi.json`))).toEqual(
      JSON.parse(await committed("documentation")),
    );
  });
});

describe("the API's description", () => {
  test.each(operations.map((operation) => [operation.id, operation] as const))(
    "says of %s who may call it and every code that it may answer",
    async (_, operation) => {
      const description = JSON.parse(await committed("routing"));
      const described = description.paths[operation.path][operation.method];
      expect(described.security).toEqual(
        operation.authorization.kind === "scope"
          ? [{ credential: [operation.authorization.scope] }]
          : operation.authorization.kind === "account"
            ? [{ account_key: [] }]
            : operation.authorization.kind === "signed_event"
              ? [{ signed_event: [] }]
              : [],
      );
      for (const code of codesOfOperation(operation)) {
        const response = described.responses[String(errorCatalogue[code].status)];
        expect(Object.keys(response.content["application/problem+json"].examples)).toContain(code);
      }
    },
  );

  test("lists the permitted actions of both wallet routes", async () => {
    const { schemas } = JSON.parse(await committed("routing")).components;
    expect(schemas.SubmitMerchantWalletAction.properties.action.enum).toEqual([...merchantActions]);
    expect(schemas.SubmitPurchaseWalletAction.properties.action.enum).toEqual([...purchaseActions]);
  });

  test("describes every event as a webhook", async () => {
    expect(Object.keys(JSON.parse(await committed("routing")).webhooks)).toEqual(Object.keys(eventTypes));
  });
});
