/** Names of controls and landmarks that Swagger UI leaves without one, by selector. */
const names = {
  ".information-container > section": "Introduction",
  "section.schemes": "Server and access",
  "#servers": "Server",
  ".examples-select-element": "Example",
  "select.content-type": "Media type",
  "textarea.body-param__text": "Request body",
  dialog: "Available authorizations",
  ".close-modal": "Close",
} as const;

/** The levels of headings: those of Swagger UI skip one below the title. */
const levels = { "h3, .models > h4": "2", h4: "3", h5: "4", h6: "4" } as const;

/** Gives screen readers and the keyboard what Swagger UI leaves out, now and whenever it draws something new. */
function nameControls(place: Element): void {
  const nameAll = () => {
    for (const [selector, name] of Object.entries(names))
      for (const control of place.querySelectorAll(`${selector}:not([aria-label])`))
        control.setAttribute("aria-label", name);
    for (const form of place.querySelectorAll(".auth-container")) nameAuthorization(form);
    // The field of an authorization is gone once that is given, and the focus with it.
    if (document.activeElement === document.body)
      place.querySelector<HTMLElement>("dialog[open] button")?.focus();
    for (const [selector, level] of Object.entries(levels))
      for (const heading of place.querySelectorAll(`:is(${selector}):not([aria-level])`))
        heading.setAttribute("aria-level", level);
    for (const scrollable of place.querySelectorAll("pre.microlight:not([tabindex])"))
      scrollable.setAttribute("tabindex", "0");
  };
  new MutationObserver(nameAll).observe(place, { childList: true, subtree: true });
  nameAll();
}

/** Names the field and the buttons of an authorization by its scheme: in Swagger UI those of all schemes share names, and fields an id. */
function nameAuthorization(form: Element): void {
  const scheme = form.querySelector("h4 code")?.textContent ?? "";
  const field = form.querySelector("input");
  field?.setAttribute("id", `authorization-${scheme}`);
  field?.setAttribute("aria-label", `${scheme} Value`);
  form.querySelector("label")?.setAttribute("for", `authorization-${scheme}`);
  // A person who speaks to the page says the text that is on a button.
  for (const button of form.querySelectorAll(".auth-btn-wrapper button"))
    button.setAttribute("aria-label", `${button.textContent} ${scheme}`);
}

/** The parts of React that the plugins use. */
interface React {
  createElement: <P extends object>(kind: string | Component<P>, props: P | null, child?: unknown) => unknown;
  useLayoutEffect: (effect: () => () => void, dependencies: readonly []) => void;
  useRef: <T>(initial: T | null) => { current: T | null };
}

type Component<P extends object> = (props: P) => unknown;

/** A part of Swagger UI that is drawn in another way. */
type Plugin = (system: { React: React }) => {
  components?: { DeepLink: Component<{ text: string }> };
  wrapComponents?: {
    authorizationPopup: (original: Component<PopupProps>) => Component<PopupProps>;
  };
};

interface PopupProps {
  authActions: { showDefinitions: (definitions: false) => void };
}

/** The path of an operation is text: Swagger UI makes it a link inside the button that opens the operation. */
const withoutNestedLinks: Plugin = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement("span", null, text) },
});

/** The browser keeps the focus in its own dialog, and gives it back: Swagger UI draws only the look of one. */
const withDialog: Plugin = ({ React }) => ({
  wrapComponents: {
    authorizationPopup: (original) => (props) => {
      const dialog = React.useRef<HTMLDialogElement>(null);
      React.useLayoutEffect(() => {
        const opened = dialog.current;
        opened?.showModal();
        opened?.querySelector("input")?.focus();
        return () => opened?.close();
      }, []);
      const close = () => props.authActions.showDefinitions(false);
      return React.createElement(
        "dialog",
        { ref: dialog, onCancel: close },
        React.createElement(original, props),
      );
    },
  },
});

interface ReferenceOptions {
  domNode: Element;
  spec: object;
  validatorUrl: null;
  deepLinking: boolean;
  docExpansion: "list";
  defaultModelsExpandDepth: number;
  displayRequestDuration: boolean;
  syntaxHighlight: { activated: boolean };
  plugins: readonly Plugin[];
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
// Swagger UI adds an entry for each part that it opens, also for those of the page's own address: Back leads to the page before.
history.pushState = history.replaceState.bind(history);
try {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  SwaggerUIBundle({
    domNode: place,
    spec: readableDescription(await response.json(), randomKey),
    validatorUrl: null,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    syntaxHighlight: { activated: false },
    plugins: [withoutNestedLinks, withDialog],
  });
} catch (error) {
  place.textContent = `The description cannot be shown: ${error instanceof Error ? error.message : error}. Is the sandbox running?`;
}

/** Returns a new Idempotency-Key: also in a page over http, which has no `crypto.randomUUID`, except at localhost. */
function randomKey(): string {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  );
  return bytes.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

interface Reference {
  $ref?: string;
}

interface Parameter extends Reference {
  name?: string;
  example?: unknown;
}

interface Media {
  schema?: { allOf?: readonly [object, ...object[]] };
}

interface Response extends Reference {
  headers?: object;
  content?: { [type: string]: Media };
}

interface ShownOperation {
  parameters?: Parameter[];
  responses?: { [status: string]: Response };
}

interface Description {
  paths: { [path: string]: { [method: string]: ShownOperation } };
  components?: {
    parameters?: { [name: string]: Parameter };
    responses?: { [name: string]: Response };
  };
}

/**
 * The description as a person reads and tries it: each write has an Idempotency-Key of its own instead of the one example, and refusals
 * come without their headers, which are the same everywhere and would fill half of the page, and with the one schema that they share.
 */
function readableDescription(
  description: Description,
  newKey: () => string,
): Description & { $$normalized: true } {
  const { parameters: sharedParameters, responses: sharedResponses } = description.components ?? {};
  const parametersOf = ({ parameters = [] }: ShownOperation) =>
    parameters
      .map((parameter) => resolve(parameter, sharedParameters))
      .map((parameter) =>
        parameter.name === "Idempotency-Key" ? { ...parameter, example: newKey() } : parameter,
      );
  const responsesOf = ({ responses = {} }: ShownOperation) =>
    mapValues(responses, (response, status) => {
      const whole = resolve(response, sharedResponses);
      return Number(status) >= 400 ? shorten(whole) : whole;
    });
  const paths = mapValues(description.paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      parameters: parametersOf(operation),
      responses: responsesOf(operation),
    })),
  );
  // Swagger UI's own mark: it would normalize the whole description for each operation that is opened, and this one leaves nothing to.
  return { ...description, paths, $$normalized: true };
}

/** The component that a part of an operation refers to, or the part itself. */
function resolve<T extends Reference>(part: T, components: { [name: string]: T } = {}): T {
  return components[part.$ref?.split("/").at(-1) ?? ""] ?? part;
}

/** A refusal by the schema of all: its own only repeats the codes, which its description names. */
function shorten({ headers: _, content = {}, ...refusal }: Response): Response {
  const shared = ({ schema, ...media }: Media): Media =>
    schema === undefined ? media : { ...media, schema: schema.allOf?.[0] ?? schema };
  return { ...refusal, content: mapValues(content, shared) };
}

function mapValues<T, U>(
  values: { [name: string]: T },
  map: (value: T, name: string) => U,
): { [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
