import { expect, test } from "vitest";
import { renderMarkdown } from "../../../../server/documentation/documents/render-markdown.ts";

const asIs = (href: string) => href;

test("each heading has its own anchor, in the form of GitHub", () => {
  const { html, sections } = renderMarkdown(
    "# A `b` & c\n\nOne.\n\n## Same\n\nTwo.\n\n## Same\n\n- *three*\n",
    asIs,
  );
  expect(sections).toEqual([
    { anchor: "a-b--c", heading: "A b & c", depth: 1, text: "One." },
    { anchor: "same", heading: "Same", depth: 2, text: "Two." },
    { anchor: "same-1", heading: "Same", depth: 2, text: "three" },
  ]);
  for (const { anchor } of sections) expect(html).toContain(` id="${anchor}"`);
});

test("the text of a section has a row, an item and a line of code each on a line of its own", () => {
  const { sections } = renderMarkdown(
    "# A\n\nOne\nline.\n\n| `b` | c\\|d |\n| --- | --- |\n| e | [f](g.md) |\n\n1. h\n2. i\n\n```sh\nj --k\nl\n```\n",
    asIs,
  );
  expect(sections[0]?.text.split("\n")).toEqual(["One line.", "b · c|d", "e · f", "h", "i", "j --k", "l"]);
});

test("a link and a picture of what is not served leave their text, or nothing", () => {
  const markdown = "[a](x.md) [b](y.md#z) ![c](d.png) ![e](f.png)";
  const { html } = renderMarkdown(markdown, (href) => (/^[yf]/.test(href) ? `/${href}` : null));
  expect(html).toBe('<p>a <a href="/y.md#z">b</a>  <img src="/f.png" alt="e" loading="lazy"></p>\n');
});

test("markup is shown as text, and comments are left out", () => {
  const { html } = renderMarkdown("<b>x</b> `<i>`\n\n<!-- note -->\n\n```sh run <me>\n</code>\n```\n", asIs);
  expect(html).not.toMatch(/<b>|<i>|note|<me>|<\/code>\n/);
  expect(html).toContain('<pre tabindex="0"><code>&lt;/code&gt;</code></pre>');
  expect(html).toContain("&lt;b&gt;x&lt;/b&gt; <code>&lt;i&gt;</code>");
});

test("a table's header without a text is an empty cell", () => {
  const { html } = renderMarkdown("| a | |\n| --- | --- |\n| b | c |\n", asIs);
  expect(html).toContain(
    "<thead><tr><th>a</th><td></td></tr></thead><tbody><tr><td>b</td><td>c</td></tr></tbody>",
  );
});
