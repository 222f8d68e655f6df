import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import type { Answer } from "../../../kit/answer.ts";
import type { DescribedOperation, Description } from "./description.ts";

/** Holds answers against a description: status, content type, headers and body. */
export class AnswerCheck {
  readonly #description: Description;
  readonly #ajv = formatsPlugin.default(new Ajv2020({ strict: false, allErrors: true }));
  readonly #early: readonly string[];
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #routes: { form: RegExp; path: string }[];

  /** @param early - the codes that a write can be refused with before its path and method are looked at. */
  constructor(description: Description, early: readonly string[] = []) {
    this.#description = description;
    this.#early = early;
    this.#ajv.addSchema({ ...description, $id: "api" });
    this.#routes = Object.keys(description.paths).map((path) => ({
      path,
      form: new RegExp(`^${path.replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`),
    }));
  }

  /** Returns the fault of an answer, in words; null without one. */
  fault(method: string, target: string, answer: Answer): string | null {
    if (answer.status >= 500) return `status ${answer.status}`;
    const path = target.split("?")[0] ?? "";
    // The index, which is no operation.
    if (path === "/" && ["GET", "HEAD"].includes(method)) return answer.status === 200 ? null : "no index";
    const route = this.#routes.find(({ form }) => form.test(path))?.path;
    const methods = route === undefined ? undefined : this.#description.paths[route];
    const known = method === "HEAD" ? "get" : method.toLowerCase();
    const operation = methods?.[known];
    const nothingThere = answer.status === 404 && answer.text.includes('"route_not_found"');
    if (
      route === undefined ||
      operation === undefined ||
      nothingThere ||
      (method === "HEAD" && answer.text === "")
    )
      return this.#faultOutside(method, answer, operation !== undefined);
    return this.#faultOf(route, known, operation, answer);
  }

  /** Answers that belong to no operation: nothing there, another method, a HEAD without a body. */
  #faultOutside(method: string, answer: Answer, described: boolean): string | null {
    if (method === "HEAD") return answer.text === "" ? null : "HEAD with a body";
    const isEarly = method !== "GET" && this.#early.some((code) => answer.text.includes(`"${code}"`));
    if (!described && !isEarly && answer.status !== 404 && answer.status !== 405)
      return `status ${answer.status} where nothing is`;
    return this.#validate("#/components/schemas/Problem", answer.text);
  }

  #faultOf(route: string, method: string, operation: DescribedOperation, answer: Answer): string | null {
    const response = operation.responses[String(answer.status)];
    if (response === undefined)
      return `${operation.operationId} describes no ${answer.status}: ${answer.text}`;
    // An answer without a body has no content.
    if (!("content" in response))
      return answer.text === "" ? null : `${operation.operationId} describes no body`;
    const type = String(answer.headers["content-type"]).split(";")[0] ?? "";
    if (response.content[type] === undefined)
      return `${operation.operationId} describes no ${answer.status} ${type}`;
    for (const [name, { required }] of Object.entries(response.headers ?? {}))
      if (required === true && answer.headers[name.toLowerCase()] === undefined)
        return `the header ${name} is missing`;
    if (!type.endsWith("json")) return null;
    const parts = ["paths", route, method, "responses", String(answer.status), "content", type, "schema"];
    return this.#validate(`#/${parts.map(escapePart).join("/")}`, answer.text);
  }

  #validate(pointer: string, text: string): string | null {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `api${pointer}` });
      this.#validators.set(pointer, validate);
    }
    return validate(JSON.parse(text))
      ? null
      : `${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 2000)}`;
  }
}

/** Escapes a part of a JSON pointer in a reference. */
export function escapePart(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
