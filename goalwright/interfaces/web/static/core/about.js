// The server's workspace, version, and whether it is read-only.
import { signal } from "../vendor/signals.js";
import { get } from "./api.js";

/** @type {{ value: { version: string, workspace: string, name: string, read_only: boolean, otlp: boolean } | null }} */
export const about = signal(null);

export const readAbout = async () => {
  about.value = await get("/about");
  document.title = `${about.value?.name ?? ""} – goalwright`;
};
