// Light or dark: the system's, unless one is chosen.
import { signal, effect } from "../vendor/signals.js";
import { chosenTheme, keepTheme, system, themeOf } from "./chosen_theme.js";

/** "auto", "light" or "dark". */
export const choice = signal(chosenTheme());
/** The theme in force. */
export const theme = signal("light");

const apply = () => (theme.value = themeOf(choice.value));

/** Keep the page in the chosen theme. */
export function followTheme() {
  system.addEventListener("change", apply);
  effect(() => {
    keepTheme(choice.value);
    apply();
    document.documentElement.dataset.theme = theme.value;
  });
}

/** The next of the three. */
export const nextTheme = () => (choice.value = { auto: "light", light: "dark" }[choice.value] ?? "auto");
