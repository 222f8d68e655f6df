import { Marked, Parser, type RendererObject, TextRenderer, type Token, type Tokens } from "marked";
import { escapeMarkup } from "../../lib/escape-controls.ts";

/** A heading of a document and what is below it, up to the next one. */
export interface Section {
  /** The fragment of its address. */
  anchor: string;
  heading: string;
  depth: number;
  /** Plain text, for search: a paragraph, an item, a row of a table or a line of code each on a line. */
  text: string;
}

/** A document as HTML. */
export interface RenderedDocument {
  html: string;
  sections: readonly Section[];
}

/**
 * Renders Markdown as HTML that holds no markup of its own: comments are dropped, and tags are shown as text.
 *
 * @param resolve - the address of what a link or a picture names, or null when it is not served: then only its text is left.
 */
export function renderMarkdown(markdown: string, resolve: (href: string) => string | null): RenderedDocument {
  const marked = new Marked({ renderer: rendererOf(resolve) });
  const tokens = marked.lexer(markdown);
  const sections: Section[] = [];
  const taken = new Map<string, number>();
  for (const token of tokens) {
    const section = sections.at(-1);
    if (isHeading(token)) {
      const heading = new Parser().parseInline(token.tokens, new TextRenderer());
      const name = slug(heading);
      const times = taken.get(name) ?? 0;
      taken.set(name, times + 1);
      const anchor = times === 0 ? name : `${name}-${times}`;
      anchors.set(token, anchor);
      sections.push({ anchor, heading, depth: token.depth, text: "" });
    } else if (section !== undefined && token.type !== "html") {
      section.text = [section.text, ...linesOf(token).map(plainText)].filter(Boolean).join("\n");
    }
  }
  return { html: marked.parser(tokens), sections };
}

/** The parts of a block that a search shows alone, as Markdown. */
function linesOf(token: Token): string[] {
  if (isTable(token))
    return [token.header, ...token.rows].map((row) =>
      row
        .map(({ text }) => text)
        .filter(Boolean)
        .join(" · "),
    );
  if (token.type === "list") return token.raw.split(/^\s*(?:[-*]|\d+\.)\s/m);
  return token.type === "code" && "text" in token ? token.text.split("\n") : [token.raw];
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === "table";
}

/** Removes comments, the targets of links, and marks. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/(?:\s|-{3,})+/g, " ")
    .trim();
}

/** The anchors of headings, from when they were read until they are rendered. */
const anchors = new WeakMap<object, string>();

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading";
}

/** In characters. */
const longestWholeName = 20;

function rendererOf(resolve: (href: string) => string | null): RendererObject {
  return {
    heading(token) {
      const inner = this.parser.parseInline(token.tokens);
      const anchor = anchors.get(token) ?? "";
      const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
      return `<h${token.depth} id="${anchor}">${inner}${token.depth === 1 ? "" : ` ${link}`}</h${token.depth}>\n`;
    },
    code({ text, lang = "" }) {
      const [, file] = lang.split(" ");
      const caption = file === undefined ? "" : `<figcaption>${escapeMarkup(file)}</figcaption>`;
      // A block that is wider than the page can be scrolled with a keyboard, too.
      return `<figure class="code">${caption}<pre tabindex="0"><code>${escapeMarkup(text)}</code></pre></figure>\n`;
    },
    codespan({ text }) {
      // A browser breaks lines after hyphens: names such as --seed stay whole if they fit in a narrow column.
      const words = text.split(/(?<= )/).map((word) => {
        const markup = escapeMarkup(word);
        return word.includes("-") && word.length <= longestWholeName
          ? `<span class="whole">${markup}</span>`
          : markup;
      });
      return `<code>${words.join("")}</code>`;
    },
    table({ header, rows }) {
      // A header without a text heads nothing.
      const cell = ({ tokens }: Tokens.TableCell, tag: string) => {
        const name = tokens.length === 0 ? "td" : tag;
        return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
      };
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells.map((one) => cell(one, tag)).join("")}</tr>`;
      const body = rows.map((cells) => row(cells, "td")).join("\n");
      const kind = header.length > 2 ? "table wide" : "table";
      return `<div class="${kind}" tabindex="0"><table><thead>${row(header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const target = resolve(href);
      return target === null ? inner : `<a href="${escapeMarkup(target)}">${inner}</a>`;
    },
    image({ href, text }) {
      const target = resolve(href);
      return target === null
        ? ""
        : `<img src="${escapeMarkup(target)}" alt="${escapeMarkup(text)}" loading="lazy">`;
    },
    html({ text }) {
      return text.trimStart().startsWith("<!--") ? "" : escapeMarkup(text);
    },
  };
}

/** A heading as GitHub writes it in an address. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
