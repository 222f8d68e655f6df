import type { MutantGroup } from "./mutant.ts";

export const documentation: readonly MutantGroup[] = [
  {
    file: "server/documentation/documents/document-site.ts",
    tests: ["test/server/documentation/pages.test.ts"],
    mutants: [
      {
        rule: "A link of a document to what this host does not serve is text.",
        find: "return isPicture(pathname) && findShippedFile(pathname) !== null ? pathname : null;",
        replace: "return pathname;",
      },
      {
        rule: "A link to a section of another document keeps the section.",
        find: "return pathname + hash;",
        replace: "return pathname;",
      },
      {
        rule: "The navigation says which page is shown.",
        find: "path === current ?",
        replace: "path !== current ?",
      },
    ],
  },
  {
    file: "server/documentation/documents/render-markdown.ts",
    tests: ["test/server/documentation/documents/render-markdown.test.ts"],
    mutants: [
      {
        rule: "Equal headings of one document have different anchors.",
        find: "taken.set(name, times + 1);",
        replace: "",
      },
      {
        rule: "Markup in a document is shown as text.",
        find: '<pre tabindex="0"><code>${escapeMarkup(text)}</code></pre>',
        replace: '<pre tabindex="0"><code>${text}</code></pre>',
      },
    ],
  },
  {
    file: "server/documentation/host.ts",
    tests: ["test/server/documentation/pages.test.ts"],
    mutants: [
      {
        rule: "A path that is asked for is shown escaped.",
        find: "escapeMarkup(path.slice(0, 200))",
        replace: "decodeURIComponent(path.slice(0, 200))",
      },
    ],
  },
];
