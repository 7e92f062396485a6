// The light or dark theme: the system's, unless the user chose one.
import { signal, effect } from "../vendor/signals.js";
import { chosenTheme, keepTheme, system, themeOf } from "./chosen_theme.js";

/** "auto", "light" or "dark". */
export const choice = signal(chosenTheme());
/** The current theme. */
export const theme = signal("light");

const apply = () => (theme.value = themeOf(choice.value));

/** Apply the chosen theme, also after changes. */
export function followTheme() {
  system.addEventListener("change", apply);
  effect(() => {
    keepTheme(choice.value);
    apply();
    document.documentElement.dataset.theme = theme.value;
  });
}

/** Switch to the next theme. */
export const nextTheme = () => (choice.value = { auto: "light", light: "dark" }[choice.value] ?? "auto");
