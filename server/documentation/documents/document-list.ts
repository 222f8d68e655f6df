import { readFileSync } from "node:fs";
import { findShippedFile } from "../shipped-file.ts";

/** One document that the documentation host serves, as Markdown and as a page. */
export interface Document {
  /** The path that it is served at; its relative links lead to the others. */
  path: string;
  title: string;
  /** Markdown. */
  read: () => string;
}

/** Documents that are for one kind of reader. */
export interface DocumentGroup {
  title: string;
  documents: readonly Document[];
}

/** The documents of each group, by path, in the order of the navigation. */
const groups: readonly (readonly [
  title: string,
  documents: readonly (readonly [path: string, title: string])[],
])[] = [
  [
    "Integrate",
    [
      ["/docs/tests.md", "Write tests"],
      ["/docs/states.md", "States"],
      ["/docs/faults.md", "Faults"],
      ["/docs/notifications.md", "Notifications"],
      ["/docs/time.md", "Time"],
      ["/docs/snapshots.md", "Snapshots"],
      ["/docs/scenarios.md", "Scenarios"],
      ["/docs/check-client.md", "Check a client"],
      ["/docs/explore.md", "Explore"],
      ["/docs/browser.md", "Browser tests"],
      ["/docs/ci.md", "Run in CI"],
      ["/docs/languages.md", "Other languages"],
      ["/docs/pool.md", "Pool"],
      ["/docs/agents.md", "Agents"],
    ],
  ],
  [
    "Check a contract",
    [
      ["/docs/binding.md", "Binding checks"],
      ["/docs/explain.md", "Explain"],
      ["/docs/check-contract.md", "Your own registrar contract"],
      ["/docs/contracts.md", "Contracts"],
    ],
  ],
  [
    "Run it",
    [
      ["/README.md", "Overview"],
      ["/docs/cli.md", "Command line"],
      ["/docs/store.md", "Data and PostgreSQL"],
      ["/docs/public-network.md", "Public networks"],
      ["/docs/pages.md", "Pages"],
      ["/docs/security.md", "Security"],
      ["/docs/performance.md", "Performance"],
    ],
  ],
  [
    "Reference",
    [
      ["/docs/api.md", "API behavior"],
      ["/docs/options.md", "Options of createSandbox"],
      ["/docs/control.md", "Control API"],
      ["/docs/rpc.md", "Chain RPC"],
      ["/CHANGELOG.md", "Changes"],
    ],
  ],
  [
    "Inside",
    [
      ["/ARCHITECTURE.md", "Architecture"],
      ["/docs/relayer.md", "Relayer"],
      ["/docs/dependencies.md", "Dependencies"],
    ],
  ],
];

/** The guide, which comes first: it is filled in for this sandbox. */
const guidePath = "/portal/docs.md";

/**
 * Lists the documents by kind of reader, the guide first.
 *
 * @param guide - the guide's Markdown.
 */
export function documentGroups(guide: () => string): DocumentGroup[] {
  const listed = groups.map(([title, documents]) => ({
    title,
    documents: documents.flatMap(([path, name]): Document[] => {
      const file = findShippedFile(path);
      return file === null ? [] : [{ path, title: name, read: () => readFileSync(file, "utf8") }];
    }),
  }));
  const [integrate, ...others] = listed;
  const first = { path: guidePath, title: "Guide", read: guide };
  return [{ title: integrate?.title ?? "", documents: [first, ...(integrate?.documents ?? [])] }, ...others];
}
