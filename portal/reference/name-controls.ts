/** Names of controls that Swagger UI leaves without one, by selector. */
const names = {
  "#servers": "Server",
  ".examples-select-element": "Example",
  "select.content-type": "Media type",
  "textarea.body-param__text": "Request body",
} as const;

/** Gives screen readers and the keyboard what Swagger UI leaves out, now and whenever it draws something new. */
export function nameControls(place: Element): void {
  const nameAll = () => {
    for (const [selector, name] of Object.entries(names))
      for (const control of place.querySelectorAll(`${selector}:not([aria-label])`))
        control.setAttribute("aria-label", name);
    for (const scrollable of place.querySelectorAll("pre.microlight:not([tabindex])"))
      scrollable.setAttribute("tabindex", "0");
  };
  new MutationObserver(nameAll).observe(place, { childList: true, subtree: true });
  nameAll();
}
