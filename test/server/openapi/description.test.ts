import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { errorCatalogue } from "../../../server/errors/catalogue.ts";
import { codesOfOperation } from "../../../server/http/codes-of-operation.ts";
import { operations } from "../../../server/operations.ts";
import { eventTypes } from "../../../server/schemas/event-types.ts";
import { merchantActions, purchaseActions } from "../../../server/schemas/wallets.ts";
import { problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { parseDescription } from "./fuzz/description.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let kit: TestKit;

beforeAll(async () => {
  kit = await TestKit.shared();
});

async function served(url: string): Promise<string> {
  const { urls } = kit.sandbox.description;
  const text = await (await fetch(url)).text();
  return text
    .replaceAll(urls.api, "http://127.0.0.1:4020")
    .replaceAll(urls.docs, "http://127.0.0.1:4021")
    .replaceAll(urls.rpc, "http://127.0.0.1:8545");
}

async function committed(name: string): Promise<string> {
  return await readFile(`${root}docs/openapi/${name}.json`, "utf8");
}

describe("the descriptions in the repository are those that are served", () => {
  test("of the API, version 1.4.0", async () => {
    const description = JSON.parse(await served(`${kit.base}/v1/routing/openapi.json`));
    expect(description.info.version).toBe("1.4.0");
    expect(description).toEqual(JSON.parse(await committed("routing")));
  });

  test("of the documentation host", async () => {
    const { docs } = kit.sandbox.description.urls;
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
        const { $ref } = described.responses[String(errorCatalogue[code].status)];
        const response = description.components.responses[$ref.split("/").at(-1)];
        expect(response.description).toContain(`\`${code}\``);
        const { allOf } = response.content["application/problem+json"].schema;
        expect(allOf[0]).toEqual({ $ref: "#/components/schemas/Problem" });
        expect(allOf[1].properties.code.anyOf).toEqual([
          { type: "string", enum: expect.arrayContaining([code]) },
          { type: "string" },
        ]);
      }
    },
  );

  test("is at most 150 KB, so that an agent can read it whole", async () => {
    expect(Buffer.byteLength(await served(`${kit.base}/v1/routing/openapi.json`))).toBeLessThanOrEqual(
      150_000,
    );
  });

  test("lists the permitted actions of both wallet routes", async () => {
    const { schemas } = JSON.parse(await committed("routing")).components;
    expect(schemas.SubmitMerchantWalletAction.properties.action.enum).toEqual([...merchantActions]);
    expect(schemas.SubmitPurchaseWalletAction.properties.action.enum).toEqual([...purchaseActions]);
  });

  test("describes every event as a webhook", async () => {
    expect(Object.keys(JSON.parse(await committed("routing")).webhooks)).toEqual(Object.keys(eventTypes));
  });

  test("leaves answers open to new fields and codes, and says so", async () => {
    const { info, paths, components } = parseDescription(await committed("routing"));
    expect(info.description).toContain("Ignore unknown fields");
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
      for (const [status, { content }] of Object.entries(operation.responses))
        for (const { schema } of Object.values(content)) {
          const closed = [...schemasWithin(schema, components.schemas)].filter(
            (part) => part["additionalProperties"] === false,
          );
          expect(closed, `${operation.operationId} ${status}`).toEqual([]);
        }
    const { validate } = validators(await committed("routing"));
    const problem = { ...exampleProblem, code: "a_code_of_tomorrow", more: 1 };
    expect(validate("Problem", problem)).toBe(true);
  });

  test("keeps requests closed: a body with an unknown field is not valid", async () => {
    const { paths } = parseDescription(await committed("routing"));
    const { validate } = validators(await committed("routing"));
    for (const { operationId, requestBody } of Object.values(paths).flatMap((methods) =>
      Object.values(methods),
    )) {
      const { schema, examples = {} } = requestBody?.content["application/json"] ?? {};
      // The body of a signed event is the outbox's, byte for byte; its fields may grow.
      if (schema === undefined || operationId === "receiveNotification") continue;
      for (const { value } of Object.values(examples)) {
        expect(validate(schema, value), operationId).toBe(true);
        expect(validate(schema, { ...Object(value), unknown_field: 1 }), operationId).toBe(false);
      }
    }
  });

  test.each([
    ["CreateMerchant", "funding_cap"],
    ["CreatePurchase", "amount"],
    ["FileClaim", "requested_amount"],
    ["SubmitPurchaseWalletAction", "amount"],
    ["RecordDecision", "award"],
  ])("excludes 0 from the positive amount %s.%s", async (name, field) => {
    const { paths } = parseDescription(await committed("routing"));
    const { validate } = validators(await committed("routing"));
    const example = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ requestBody }) => requestBody?.content["application/json"])
      .filter((content) => JSON.stringify(content?.schema) === `{"$ref":"#/components/schemas/${name}"}`)
      .flatMap((content) => Object.values(content?.examples ?? {}))[0];
    expect(validate(name, example?.value)).toBe(true);
    expect(validate(name, { ...Object(example?.value), [field]: "0" })).toBe(false);
  });

  test("describes the page that a browser gets of a wallet route", async () => {
    const { paths } = parseDescription(await committed("routing"));
    for (const type of ["merchant", "purchase"]) {
      const content = paths[`/wallet/{program}/${type}/{id}`]?.["get"]?.responses["200"]?.content;
      expect(Object.keys(content ?? {})).toEqual(["application/json", "text/html"]);
    }
  });

  test("lets only a purchase's wallet route accept an amount and a reason, as the service does", async () => {
    const { paths } = parseDescription(await committed("routing"));
    const queryOf = (type: string) =>
      paths[`/wallet/{program}/${type}/{id}`]?.["get"]?.parameters?.flatMap((parameter) =>
        parameter.in === "query" ? [parameter.name] : [],
      );
    expect([queryOf("merchant"), queryOf("purchase")]).toEqual([[], ["amount", "reason"]]);
    const { id } = await kit.createMerchant();
    const answer = await kit.raw(`/wallet/${kit.program}/merchant/${id}?amount=1&reason=none`);
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "validation_failed",
      errors: [
        { pointer: "/query/amount", code: "unknown_field" },
        { pointer: "/query/reason", code: "unknown_field" },
      ],
    });
  });
});

const exampleProblem = {
  type: "http://127.0.0.1:4021/errors/not_found",
  title: "Not found",
  status: 404,
  code: "not_found",
  detail: "There is none.",
  instance: "/",
  request_id: "req_abcdefghij234567abcd",
  retryable: false,
};

/** Every object schema that a schema is made of, those that it refers to included. */
function* schemasWithin(
  schema: unknown,
  named: { [name: string]: unknown },
  seen = new Set<unknown>(),
): Generator<{ [keyword: string]: unknown }> {
  if (typeof schema !== "object" || schema === null || seen.has(schema)) return;
  seen.add(schema);
  if ("$ref" in schema) yield* schemasWithin(named[String(schema.$ref).split("/").at(-1) ?? ""], named, seen);
  yield { ...schema };
  for (const part of Object.values(schema)) yield* schemasWithin(part, named, seen);
}

/** Validates values by the schemas of a description. */
function validators(text: string) {
  const ajv = formatsPlugin.default(new Ajv2020({ strict: false }));
  ajv.addSchema({ ...JSON.parse(text), $id: "api" });
  return {
    /** @param schema - a schema, or the name of one. */
    validate(schema: unknown, value: unknown): boolean {
      const reference = typeof schema === "string" ? `#/components/schemas/${schema}` : Object(schema).$ref;
      return ajv.validate({ $ref: `api${reference}` }, value);
    },
  };
}
