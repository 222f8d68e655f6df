/** The documentation's pages: search over all of them, and a button that copies a block of code. */

import type { SearchSection } from "../../server/documentation/documents/find-sections.ts";

const shownMost = 20;
const excerptLength = 200;

const field = element("#search input", HTMLInputElement);
const found = element("#found", HTMLElement);
const read = element("#read", HTMLElement);

// A phone has no room for the lists of pages and of sections next to the text.
if (matchMedia("(max-width: 55rem)").matches)
  for (const list of document.querySelectorAll("details.menu, details.contents"))
    list.removeAttribute("open");

const current = document.querySelector<HTMLElement>(".menu [aria-current]");
const menu = element(".menu", HTMLElement);
if (current !== null) menu.scrollTop = current.offsetTop - menu.offsetTop - menu.clientHeight / 2;

element("#search", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  await search();
  found.querySelector("a")?.click();
});
field.addEventListener("input", () => void search());
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && !found.hidden) {
    event.preventDefault();
    found.querySelector("a")?.focus();
  }
  if (event.key !== "Escape") return;
  field.value = "";
  void search();
});

// Over http, a browser copies at localhost and 127.0.0.1 only.
for (const block of isSecureContext ? document.querySelectorAll("figure.code") : []) {
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
  const matches = await fetch(`/docs/search.json?${new URLSearchParams({ q: words.join(" ") })}`)
    .then(async (response): Promise<SearchSection[]> => await response.json())
    .catch(() => null);
  // Text typed meanwhile starts a search of its own.
  if (wordsOf(field.value).join(" ") !== words.join(" ")) return;
  if (matches === null) found.textContent = "The sandbox does not respond. Start it, and type again.";
  else show(words, matches);
}

function show(words: readonly string[], matches: readonly SearchSection[]): void {
  const list = document.createElement("ol");
  for (const section of matches.slice(0, shownMost)) list.append(entryOf(section, words));
  const heading = document.createElement("h1");
  heading.textContent = "Search results";
  const count = document.createElement("p");
  count.className = "quiet";
  count.textContent =
    matches.length === 0
      ? `No section has "${words.join(" ")}". Try one word of it, or an error code.`
      : `${matches.length} ${matches.length === 1 ? "section" : "sections"}${matches.length > shownMost ? `, of which the best ${shownMost} are shown; type another word for fewer` : ""}`;
  found.replaceChildren(heading, count, list);
}

function entryOf(
  { document: name, url, heading, text }: SearchSection,
  words: readonly string[],
): HTMLLIElement {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.append(...marked(name === heading ? name : `${name}: ${heading}`, words));
  // A section of this page is shown again once its address is gone to.
  link.addEventListener("click", () => {
    field.value = "";
    void search();
  });
  const excerpt = document.createElement("p");
  excerpt.append(...marked(excerptOf(text, words), words));
  entry.append(link, excerpt);
  return entry;
}

/** Returns the sentence of a section that has most of the words: of lines that have as many, a whole sentence before a name or code. */
function excerptOf(text: string, words: readonly string[]): string {
  const rankOfLine = (line: string) =>
    3 * words.filter((word) => line.toLowerCase().includes(word)).length +
    Number(line.split(" ").length > 4) +
    Number(/[.:!?]$/.test(line));
  const [best = ""] = text
    .split(/\n|(?<=[.!?])\s+(?=[A-Z])/)
    .toSorted((left, right) => rankOfLine(right) - rankOfLine(left));
  const found = words.map((word) => best.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const at = best.length <= excerptLength ? 0 : Math.max(0, Math.min(...found) - excerptLength / 2);
  const cut = best.slice(at, at + excerptLength);
  return `${at > 0 ? "…" : ""}${cut}${best.length > at + excerptLength ? "…" : ""}`;
}

/** Returns a text with each of the words in it marked. */
function marked(text: string, words: readonly string[]): (string | HTMLElement)[] {
  const anyWord = new RegExp(`(${words.map((word) => word.replace(/\W/g, "\\$&")).join("|")})`, "i");
  // The text between the words is at even places.
  return text.split(anyWord).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function element<T extends Element>(selector: string, kind: new () => T): T {
  const one = document.querySelector(selector);
  if (!(one instanceof kind)) throw new Error(`The page has no ${selector}.`);
  return one;
}
