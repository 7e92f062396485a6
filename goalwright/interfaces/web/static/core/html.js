// The tag that components are written with: `html` makes elements, never markup.
import { h } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/** Class names: those given, without empty ones. @param {...(string | false | null | undefined)} names */
export const classes = (...names) => names.filter(Boolean).join(" ");
