// Runs first: sets the theme, takes the token, and sends the first requests.
import { askEarly } from "./core/early.js";
import { chosenTheme, themeOf } from "./core/chosen_theme.js";
import { takeToken } from "./core/token.js";

document.documentElement.dataset.theme = themeOf(chosenTheme());
takeToken();
askEarly(location.pathname);
