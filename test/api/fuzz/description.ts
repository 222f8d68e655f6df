/** What the fuzzer reads of an OpenAPI description. */
export interface Description {
  paths: { [path: string]: { [method: string]: DescribedOperation } };
  components: { schemas: { [name: string]: unknown } };
}

/** One operation of a description. */
export interface DescribedOperation {
  operationId: string;
  parameters?: { in: "path" | "query" | "header"; name: string; required?: boolean; schema: unknown }[];
  requestBody?: { content: { [type: string]: { schema: unknown } } };
  responses: { [status: string]: DescribedResponse };
}

interface DescribedResponse {
  headers?: { [name: string]: { required?: boolean } };
  content: { [type: string]: { schema: unknown } };
}
