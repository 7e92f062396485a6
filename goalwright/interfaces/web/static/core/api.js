// Requests to the server with its token, errors as `Refused`, and streams.
import { signal } from "../vendor/signals.js";
import { early } from "./early.js";
import { events } from "./stream.js";
import { followTabs, keepToken, takeToken, token } from "./token.js";

/** The connection problem: "", "token", or "lost". */
export const trouble = signal("");

/** The error of a refused request. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {string} hint */
  constructor(status, code, message, hint) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.final = status >= 400 && status < 500 && status !== 429;
  }
}

/** Use a new token from the address of this tab or from another tab at once. @param {() => void} onNew */
export function followToken(onNew) {
  const taken = () => {
    trouble.value = "";
    onNew();
  };
  addEventListener("hashchange", () => takeToken() && taken());
  followTabs(taken);
}

/** @param {string} given */
export function useToken(given) {
  keepToken(given);
  trouble.value = "";
}

/**
 * Send a request; throws `Refused` if the server refuses it.
 * @param {string} path @param {RequestInit & { json?: unknown }} [options] @returns {Promise<Response>}
 */
export async function ask(path, { json, headers, ...options } = {}) {
  const given = {
    authorization: `Bearer ${token()}`,
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  const body = json === undefined ? options.body : JSON.stringify(json);
  let reply;
  try {
    reply = (body === undefined && (await early(path))) || await fetch(`/api${path}`, { ...options, body, headers: given, cache: "no-store" });
  } catch (error) {
    if (!options.signal?.aborted) trouble.value = "lost";
    throw error;
  }
  trouble.value = reply.status === 401 ? "token" : "";
  if (reply.ok) return reply;
  const said = await reply.json().catch(() => ({}));
  const { code = "ERROR", message = `the server answered ${reply.status}`, hint = "" } = said.error ?? {};
  throw new Refused(reply.status, code, message, hint);
}

/** @param {string} path @param {{ signal?: AbortSignal }} [options] @returns {Promise<any>} */
export const get = async (path, options) => (await ask(path, options)).json();

/** @param {string} path @param {unknown} [json] @param {{ signal?: AbortSignal }} [options] @returns {Promise<any>} */
export const post = async (path, json = {}, options = {}) => (await ask(path, { method: "POST", json, ...options })).json();

/** @param {string} path @param {Blob | Uint8Array} body @returns {Promise<any>} */
export const send = async (path, body) => {
  const headers = { "content-type": "application/octet-stream" };
  return (await ask(path, { method: "POST", body: /** @type {BodyInit} */ (body), headers })).json();
};

/** @param {string} path @returns {Promise<any>} */
export const remove = async (path) => (await ask(path, { method: "DELETE" })).json();

/** Post a request and read its event stream, without reconnecting. @param {string} path @param {unknown} json @param {AbortSignal} [signal] */
export const stream = (path, json, signal) => events(() => ask(path, { method: "POST", json, signal }), { signal, once: true });

/** Save the response of a route as a file. @param {string} path @param {string} name */
export async function save(path, name) {
  const blob = await (await ask(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Encode a part of an address. @param {string} text */
export const part = (text) => encodeURIComponent(text);
