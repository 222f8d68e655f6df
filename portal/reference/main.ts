import { nameControls } from "./name-controls.ts";
import { readableDescription } from "./readable-description.ts";

interface ReferenceOptions {
  domNode: Element;
  spec: object;
  validatorUrl: null;
  deepLinking: boolean;
  docExpansion: "list";
  defaultModelsExpandDepth: number;
  displayRequestDuration: boolean;
  syntaxHighlight: { activated: boolean };
}

declare global {
  /** Swagger UI, which is not a module and says so. */
  var SwaggerUIBundle: (options: ReferenceOptions) => unknown;
}

const ofDocumentation = new URLSearchParams(location.search).get("of") === "documentation";
const docsUrl = document.querySelector<HTMLMetaElement>('meta[name="docs-url"]')?.content ?? "";
const url = ofDocumentation ? `${docsUrl}/portal/openapi.json` : "/v1/routing/openapi.json";
const place = document.querySelector("#reference");
if (place === null) throw new Error("The page has no place for the reference.");
const hint = document.querySelector<HTMLElement>("#hint");
if (hint !== null) hint.hidden = ofDocumentation;
for (const link of document.querySelectorAll("nav a"))
  if (link.getAttribute("href") === location.pathname + location.search)
    link.setAttribute("aria-current", "page");

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();
nameControls(place);
try {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  SwaggerUIBundle({
    domNode: place,
    spec: readableDescription(await response.json(), () => crypto.randomUUID()),
    validatorUrl: null,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    syntaxHighlight: { activated: false },
  });
} catch (error) {
  place.textContent = `The description cannot be shown: ${error instanceof Error ? error.message : error}. Is the sandbox running?`;
}
