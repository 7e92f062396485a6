// The theme chosen in this browser, and the resulting one.

const KEY = "goalwright-theme";
export const system = matchMedia("(prefers-color-scheme: dark)");

/** "auto", "light" or "dark". */
export const chosenTheme = () => localStorage.getItem(KEY) ?? "auto";

/** @param {string} choice */
export const keepTheme = (choice) => localStorage.setItem(KEY, choice);

/** @param {string} choice */
export const themeOf = (choice) => (choice === "auto" ? (system.matches ? "dark" : "light") : choice);
