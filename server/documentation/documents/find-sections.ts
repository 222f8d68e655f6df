/** A place that a search finds: a section of a document, the page of an error code, or an operation. */
export interface SearchSection {
  document: string;
  url: string;
  heading: string;
  text: string;
}

/**
 * Returns the sections that have every word of a text, the best first; all of them when it has no words.
 *
 * @example findSections("gas budget", sections)
 */
export function findSections(text: string, sections: readonly SearchSection[]): SearchSection[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return sections
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ section }) => section);
}

/**
 * Returns the rank of a section: 0 when a word is missing. An exact name comes before names that contain it, a heading before the page's name and the
 * text, and a text that has a word often before one that mentions it.
 */
function rankOf({ document: page, heading, text }: SearchSection, words: readonly string[]): number {
  const [title, name, body] = [heading, page, text].map((part) => part.toLowerCase()) as [
    string,
    string,
    string,
  ];
  const names = title.split(/[^\w.-]+/);
  const typed = words.join(" ");
  // A cell of a table, or what an item of a list begins with: "term: text", "XError (code): text", "beneficiary? (address): …".
  const isCell = body.split(/\n| · /).some((cell) =>
    cell
      .replace(/^(\w+error) \((\w+)\): /, "$1: $2: ")
      .split(/: |\?? \(/)
      .slice(0, 2)
      .includes(typed),
  );
  // The first section of a page says what the page is about.
  let rank = title === typed ? 20 : isCell ? 8 : title === name ? 2 : 1;
  for (const word of words) {
    const times = body.split(word).length - 1;
    const inText = times === 0 ? 0 : isCell ? 1 : 1 + (3 * times) / (times + 1);
    const score =
      names.includes(word) || names.includes(`${word}s`)
        ? 10
        : title.includes(word)
          ? 5
          : Math.max(name.includes(word) ? 3 : 0, inText);
    if (score === 0) return 0;
    rank += score;
  }
  return rank;
}
