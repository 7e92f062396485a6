// Runs before anything else is there: the theme, the token, and the first questions to the server.
import { askEarly } from "./core/early.js";
import { chosenTheme, themeOf } from "./core/chosen_theme.js";
import { takeToken } from "./core/token.js";

document.documentElement.dataset.theme = themeOf(chosenTheme());
takeToken();
askEarly(location.pathname);
