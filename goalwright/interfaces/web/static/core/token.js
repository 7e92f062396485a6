// The token of this server: out of the address, into the browser's own store.

const KEY = "goalwright-token";

export const token = () => localStorage.getItem(KEY) ?? "";

/** @param {string} given */
export const keepToken = (given) => localStorage.setItem(KEY, given.trim());

/** Take the token out of the address, where it must not stay; gives whether there was one. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return false;
  keepToken(given);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Hear of a token that another tab was opened with. @param {() => void} onNew */
export const followTabs = (onNew) => addEventListener("storage", (event) => event.key === KEY && event.newValue && onNew());
