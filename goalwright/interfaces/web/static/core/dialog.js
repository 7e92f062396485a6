// Dialogs, menus and tabs; uses the browser's dialog, which keeps and restores the focus.
import { signal } from "../vendor/signals.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { Notes, told } from "./announce.js";
import { html, classes } from "./html.js";
import { Icon } from "./icons.js";

/** A function that renders the open dialog. @type {{ value: (() => any) | null }} */
const open = signal(null);
/** @type {(value: any) => void} */
let settle = () => {};

/** Show a dialog; resolves with the value that it was closed with. @param {(close: (value?: any) => void) => any} content @returns {Promise<any>} */
export const show = (content) => new Promise((done) => {
  settle(undefined);
  const close = (/** @type {any} */ value) => {
    if (settle !== close) return; // another dialog is open
    settle = () => {};
    open.value = null;
    done(value);
  };
  settle = close;
  open.value = () => content(close);
});

/** Renders dialogs and notes; notes are inside an open dialog, because the rest of the page is inert. */
export const DialogPlace = () => (open.value ? open.value() : html`<${Notes} />`);

/** A dialog that shows the errors of `onSubmit` and then stays open. @param {{ title: string, close: (value?: any) => void, wide?: boolean, foot?: any, children?: any, onSubmit?: () => unknown }} props */
export function Dialog({ title, close, wide = false, foot, children, onSubmit }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const typed = useRef(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {{ message: string, hint: string } | null} */ (null));
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const before = document.activeElement;
    element.showModal();
    element.querySelector(/** @type {any} */ ("[data-first], .dbody input, .dbody textarea, .dbody select"))?.focus();
    return () => {
      element.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await onSubmit?.();
    } catch (error) {
      setProblem(told(error));
    }
    setBusy(false);
  };
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
  };
  const outside = (/** @type {Event} */ event) => event.target === ref.current && !typed.current && close();
  return html`<dialog ref=${ref} class=${classes(wide && "wide")} aria-label=${title} aria-busy=${busy ? "true" : "false"} onCancel=${cancel} onMouseDown=${outside} onInput=${() => (typed.current = true)}>
    <div class="dhead"><h2>${title}</h2><button type="button" class="plain" aria-label="Close" onClick=${() => close()}><${Icon} name="close" /></button></div>
    <form class="dbody" id="dialog" onSubmit=${submit}>${children}</form>
    <div class="dproblem" role="alert">${problem && html`<div class="note st-failed"><b>${problem.message}</b>${problem.hint && html`<div class="hint">${problem.hint}</div>`}</div>`}</div>
    ${foot && html`<div class="dfoot">${foot}</div>`}<${Notes} /></dialog>`;
}

/** Ask yes or no. @param {{ title: string, text: any, yes: string, danger?: boolean }} question @returns {Promise<boolean>} */
export const confirm = async ({ title, text, yes, danger = false }) => (await show((close) => html`<${Dialog} title=${title} close=${close} onSubmit=${() => close(true)}
  foot=${html`<button type="button" class="btn" onClick=${() => close(false)}>Cancel</button><button type="submit" form="dialog" data-first class=${classes("btn", danger ? "danger" : "primary")} onClick=${(/** @type {Event} */ event) => { event.preventDefault(); close(true); }}>${yes}</button>`}>
  <p>${text}</p></${Dialog}>`)) === true;

/** A button with a menu of actions. @param {{ label: string, icon?: string, items: ({ name: string, icon?: string, danger?: boolean, href?: string, do?: () => void } | false | null)[], small?: boolean }} props */
export function Menu({ label, icon, items, small = false }) {
  const [isOpen, setOpen] = useState(false);
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!isOpen) return;
    const leave = (/** @type {Event} */ event) => event.target instanceof Node && !ref.current?.contains(event.target) && setOpen(false);
    document.addEventListener("pointerdown", leave);
    ref.current?.querySelector(/** @type {any} */ (".items > *"))?.focus();
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const key = (/** @type {KeyboardEvent} */ event) => {
    const all = /** @type {HTMLElement[]} */ ([...(ref.current?.querySelectorAll(".items > *") ?? [])]);
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      setOpen(false);
      /** @type {any} */ (ref.current?.firstElementChild)?.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && all.length) {
      event.preventDefault();
      all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1)) % all.length].focus();
    }
  };
  const given = /** @type {NonNullable<typeof items[number] & object>[]} */ (items.filter(Boolean));
  return html`<div class="menu" ref=${ref} onKeyDown=${key}>
    <button type="button" class=${classes("btn", small && "small")} aria-haspopup="menu" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${icon && html`<${Icon} name=${icon} />`}<span>${label}</span>${icon !== "more" && html`<${Icon} name="down" />`}</button>
    ${isOpen && html`<div class="items" role="menu">${given.map((item) => item.href
      ? html`<a role="menuitem" href=${item.href} onClick=${() => setOpen(false)}>${item.icon && html`<${Icon} name=${item.icon} />`}${item.name}</a>`
      : html`<button type="button" role="menuitem" class=${classes(item.danger && "danger")} onClick=${() => { setOpen(false); item.do?.(); }}>${item.icon && html`<${Icon} name=${item.icon} />`}${item.name}</button>`)}</div>`}</div>`;
}

/** @param {{ tabs: { id: string, name: string, count?: number }[], chosen: string, onChoose: (id: string) => void, label: string }} props */
export function Tabs({ tabs, chosen, onChoose, label }) {
  const key = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (tabs.findIndex((tab) => tab.id === chosen) + by + tabs.length) % tabs.length;
    onChoose(tabs[next].id);
    /** @type {any} */ (event.currentTarget)?.children[next]?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${key}>${tabs.map((tab) => html`<button type="button" role="tab" key=${tab.id} id="tab-${tab.id}" aria-controls="panel" aria-selected=${tab.id === chosen ? "true" : "false"} tabIndex=${tab.id === chosen ? 0 : -1} onClick=${() => onChoose(tab.id)}>${tab.name}${tab.count ? html`<small>${tab.count}</small>` : null}</button>`)}</div>`;
}
