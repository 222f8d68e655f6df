/** The parts of an OpenAPI description that tests read; parameters and responses are resolved. */
export interface Description {
  info: { description: string };
  paths: { [path: string]: { [method: string]: DescribedOperation } };
  components: { schemas: { [name: string]: unknown } };
}

/** One operation of a description. */
export interface DescribedOperation {
  operationId: string;
  parameters?: DescribedParameter[];
  requestBody?: { content: { [type: string]: { schema: unknown; examples?: { [name: string]: Example } } } };
  responses: { [status: string]: DescribedResponse };
}

interface DescribedParameter {
  in: "path" | "query" | "header";
  name: string;
  required?: boolean;
  schema: unknown;
  example?: string;
}

interface DescribedResponse {
  headers?: { [name: string]: { required?: boolean } };
  content: { [type: string]: { schema: unknown } };
}

interface Example {
  summary: string;
  value: unknown;
}

/** Parses a description and puts the components that operations refer to in their places; schemas keep their references. */
export function parseDescription(text: string): Description {
  const resolveFrom =
    (components: { [kind: string]: { [name: string]: unknown } }) => (_: string, value: unknown) => {
      const reference = typeof value === "object" && value !== null && "$ref" in value ? value.$ref : "";
      const [, , kind = "", name = ""] = String(reference).split("/");
      return kind === "" || kind === "schemas" ? value : components[kind]?.[name];
    };
  // Twice, because responses refer to headers.
  const { components } = JSON.parse(text, resolveFrom(JSON.parse(text).components));
  return JSON.parse(text, resolveFrom(components));
}
