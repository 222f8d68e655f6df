import type { components } from "../../sandbox/client/api.generated.ts";
import { html, render } from "../vendor/lit-html/lit-html.js";

type Wallet = components["schemas"]["Wallet"];

const main = document.querySelector("main");
if (main === null) throw new Error("The page has no main element.");
const response = await fetch(location.href, { headers: { Accept: "application/json" } });
const wallet: Wallet = await response.json();
render(html`<h1>${wallet.subject.type}</h1>`, main);
