/** The read-only resources of the documentation host, in the order of the specification. */
export const documentationResources = [
  {
    id: "guide",
    path: "/portal/docs.md",
    contentType: "text/markdown; charset=utf-8",
    description: "Integration guide for humans and agents.",
  },
  {
    id: "previewCapabilities",
    path: "/portal/capabilities.json",
    contentType: "application/json; charset=utf-8",
    description: "The preview capabilities: which parts are real, simulated or not supported.",
  },
  {
    id: "examplePurchase",
    path: "/portal/examples/purchase.json",
    contentType: "application/json; charset=utf-8",
    description: "An unsigned fictional purchase commitment.",
  },
  {
    id: "purchaseSchema",
    path: "/portal/schemas/purchase.json",
    contentType: "application/json; charset=utf-8",
    description: "The schema of the fictional commitment (JSON Schema 2020-12).",
  },
  {
    id: "resourceDescription",
    path: "/portal/openapi.json",
    contentType: "application/json; charset=utf-8",
    description: "The description of these resources (OpenAPI 3.1).",
  },
  {
    id: "llmsIndex",
    path: "/portal/llms.txt",
    contentType: "text/plain; charset=utf-8",
    description: "Index of the documentation for agents (llms.txt).",
  },
] as const;

/** The path of one resource of the specification. */
export type DocumentationPath = (typeof documentationResources)[number]["path"];
