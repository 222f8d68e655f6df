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

/** Returns the rank of a section: 0 when a word is missing. An exact name comes before names that contain it, and a heading before text. */
function rankOf({ document: name, heading, text }: SearchSection, words: readonly string[]): number {
  const [title, body] = [`${name} ${heading}`.toLowerCase(), text.toLowerCase()];
  const names = title.split(/[^\w.-]+/);
  const typed = words.join(" ");
  const cell = body.split(/\n| · /).includes(typed) ? 6 : 1;
  let rank = heading.toLowerCase() === typed ? 20 : cell;
  for (const word of words) {
    if (names.includes(word) || names.includes(`${word}s`)) rank += 10;
    else if (title.includes(word)) rank += 3;
    else if (body.includes(word)) rank += 1;
    else return 0;
  }
  return rank;
}
