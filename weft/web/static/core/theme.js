// Light or dark: the system's, unless one is chosen.
import { signal, effect } from "../vendor/signals.js";

const KEY = "weft-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** "auto", "light" or "dark". */
export const choice = signal(localStorage.getItem(KEY) ?? "auto");
/** The theme in force. */
export const theme = signal("light");

const apply = () => (theme.value = choice.value === "auto" ? (system.matches ? "dark" : "light") : choice.value);

/** Keep the page in the chosen theme. */
export function followTheme() {
  system.addEventListener("change", apply);
  effect(() => {
    localStorage.setItem(KEY, choice.value);
    apply();
    document.documentElement.dataset.theme = theme.value;
  });
}

/** The next of the three. */
export const nextTheme = () => (choice.value = { auto: "light", light: "dark" }[choice.value] ?? "auto");
