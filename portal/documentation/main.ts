/** The documentation's pages: search over all of them, and a button that copies a block of code. */

/** A section of a document, as the host lists it. */
interface PageSection {
  document: string;
  url: string;
  heading: string;
  text: string;
}

const shownMost = 20;
const excerptLength = 160;

const field = element("#search input", HTMLInputElement);
const found = element("#found", HTMLElement);
const read = element("#read", HTMLElement);

/** Read at the first search. */
let sections: Promise<PageSection[]> | undefined;

// A phone has no room for the lists of pages and of sections next to the text.
if (matchMedia("(max-width: 55rem)").matches)
  for (const list of document.querySelectorAll("details.menu, details.contents"))
    list.removeAttribute("open");

element("#search", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", () => void search());
field.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  field.value = "";
  void search();
});

for (const block of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(block, button));
  block.append(button);
}

async function copy(block: Element, button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(block.querySelector("pre")?.textContent ?? "");
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2_000);
}

async function search(): Promise<void> {
  const words = wordsOf(field.value);
  found.hidden = words.length === 0;
  read.hidden = words.length > 0;
  if (words.length === 0) return;
  sections ??= fetch("/docs/search.json").then(async (answer) => await answer.json());
  const all = await sections;
  // Text typed meanwhile starts a search of its own.
  if (wordsOf(field.value).join(" ") !== words.join(" ")) return;
  show(words, all);
}

function show(words: readonly string[], all: readonly PageSection[]): void {
  const matches = all
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((left, right) => right.rank - left.rank);
  const list = document.createElement("ol");
  for (const { section } of matches.slice(0, shownMost)) list.append(entryOf(section, words));
  const heading = document.createElement("h1");
  heading.textContent = "Search results";
  const count = document.createElement("p");
  count.className = "quiet";
  count.textContent =
    matches.length === 0
      ? `No section has "${words.join(" ")}". Try one word of it, or an error code.`
      : `${matches.length} ${matches.length === 1 ? "section" : "sections"}`;
  found.replaceChildren(heading, count, list);
}

/** Returns the rank of a section: 0 when a word is missing; headings count more than text. */
function rankOf({ document: name, heading, text }: PageSection, words: readonly string[]): number {
  const [title, body] = [`${name} ${heading}`.toLowerCase(), text.toLowerCase()];
  let rank = 0;
  for (const word of words) {
    if (title.includes(word)) rank += 10;
    else if (body.includes(word)) rank += 1;
    else return 0;
  }
  return rank;
}

function entryOf(
  { document: name, url, heading, text }: PageSection,
  words: readonly string[],
): HTMLLIElement {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.textContent = name === heading ? name : `${name}: ${heading}`;
  // A section of this page is shown again once its address is gone to.
  link.addEventListener("click", () => {
    field.value = "";
    void search();
  });
  const excerpt = document.createElement("p");
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? "") - excerptLength / 4);
  excerpt.textContent = `${at > 0 ? "…" : ""}${text.slice(at, at + excerptLength)}${text.length > at + excerptLength ? "…" : ""}`;
  entry.append(link, excerpt);
  return entry;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function element<T extends Element>(selector: string, kind: new () => T): T {
  const one = document.querySelector(selector);
  if (!(one instanceof kind)) throw new Error(`The page has no ${selector}.`);
  return one;
}
