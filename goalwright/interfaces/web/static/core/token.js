// Moves the server's token from the address into the browser's storage.

const KEY = "goalwright-token";

export const token = () => localStorage.getItem(KEY) ?? "";

/** @param {string} given */
export const keepToken = (given) => localStorage.setItem(KEY, given.trim());

/** Remove the token from the address and store it; returns whether there was one. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return false;
  keepToken(given);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Listen for a new token from another tab. @param {() => void} onNew */
export const followTabs = (onNew) => addEventListener("storage", (event) => event.key === KEY && event.newValue && onNew());
