// Icons as components: 16 × 16, one stroked path, with a label if nothing else explains them.
import { html, classes } from "./html.js";
import { ICONS, WORDS } from "./states.js";

/** @type {Record<string, string>} */
export const PATHS = {
  runs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  ask: "M2.5 3h11v7.6H7.6L4.6 13.4v-2.8H2.5zM8 5.2v2.6M8 9.2v.01",
  talk: "M2 2.8h8.6v6H6L3.6 11V8.8H2zM12.6 6H14v6h-1.6v2.2L10 12H6.4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  batches: "M2.5 3h4.4v4.4H2.5zM9.1 3h4.4v4.4H9.1zM2.5 9h4.4v4.4H2.5zM9.1 9h4.4v4.4H9.1z",
  skills: "M3 2.5h7a3 3 0 0 1 3 3v8H6a3 3 0 0 1-3-3zM3 10.5a3 3 0 0 1 3-3h7",
  models: "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9zM2.8 5L8 8l5.2-3M8 8v6",
  settings: "M8 5.7a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6ZM8 1.8v1.7M8 12.5v1.7M1.8 8h1.7M12.5 8h1.7M3.6 3.6l1.2 1.2M11.2 11.2l1.2 1.2M3.6 12.4l1.2-1.2M11.2 4.8l1.2-1.2",
  plan: "M2.5 3.5h4v3h-4zM9.5 9.5h4v3h-4zM6.5 5h2.2a2 2 0 0 1 2 2v2.5",
  undo: "M3.2 6.5h6.3a3.5 3.5 0 0 1 0 7H6M6.2 3.2L2.9 6.5l3.3 3.3",
  replay: "M3.2 6.2A5.2 5.2 0 1 1 2.8 8M3 2.8v3.4h3.4M8 5.4V8l1.8 1.2",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4l3.1 3.1",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M9.5 3.5L5 8l4.5 4.5",
  forward: "M6.5 3.5L11 8l-4.5 4.5",
  down: "M3.5 6.2L8 10.7l4.5-4.5",
  play: "M5 3.2v9.6L12.6 8z",
  pause: "M5 3.5v9M11 3.5v9",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  copy: "M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5",
  check: "M3.2 8.6l3.1 3.1 6.5-7.2",
  file: "M4 1.8h5L12.5 5v9.2H4zM9 1.8V5h3.5",
  folder: "M2 4h4l1.4 1.6H14v7.4H2z",
  upload: "M8 10.5v-8M4.8 5.4L8 2.2l3.2 3.2M2.8 11v2.5h10.4V11",
  download: "M8 2.5v8M4.8 7.6L8 10.8l3.2-3.2M2.8 12v1.8h10.4V12",
  trash: "M3 4.5h10M6.5 4.2V2.5h3v1.7M4.4 4.5l.6 9h6l.6-9M6.8 7v4M9.2 7v4",
  edit: "M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.6 4.2l2.2 2.2",
  warn: "M8 2.2l6.2 11H1.8zM8 6.4v3.2M8 11.6v.1",
  stop: "M4.5 4.5h7v7h-7z",
  moon: "M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6Z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 2v12M8 5l4.5-1M8 8h6M8 11l4.5 1",
  wide: "M2.5 3.5h11v9h-11zM6 3.5v9",
  doctor: "M2 8h2.6l1.6-4.5 3 9L11 8h3",
  compare: "M5.5 2.5v11M10.5 2.5v11M2.5 5.5h3M10.5 10.5h3",
  time: "M2.5 4.5h5M5.5 8h6M9 11.5h4.5",
  key: "M10.2 2.4a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8ZM7.8 8.2L3 13M5 11l1.6 1.6",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  more: "M3.4 8h.01M8 8h.01M12.6 8h.01",
};

/** @param {{ name?: string, d?: string, class?: string, title?: string }} props */
export const Icon = ({ name = "", d = PATHS[name] ?? "", class: className = "", title = "" }) => html`<svg
  class=${classes("i", className)} viewBox="0 0 16 16" role=${title ? "img" : undefined}
  aria-label=${title || undefined} aria-hidden=${title ? undefined : "true"}><path d=${d} /></svg>`;

/** A state as a pill: icon and word. @param {{ status: string, word?: string }} props */
export const Pill = ({ status, word }) => html`<span class="pill st-${status}"><${Icon} d=${ICONS[status] ?? ICONS.pending} />${word ?? WORDS[status] ?? status}</span>`;

/** A state as an icon, with a label for screen readers. @param {{ status: string }} props */
export const StateIcon = ({ status }) => html`<span class="ic st-${status}"><${Icon} d=${ICONS[status] ?? ICONS.pending} title=${WORDS[status] ?? status} /></span>`;

/** The logo of goalwright. @param {{ size?: number }} props */
export const Sign = ({ size = 22 }) => html`<svg class="sign" width=${size} height=${size} viewBox="0 0 22 22" aria-hidden="true"><g fill="none" stroke-width="2.2" stroke-linecap="round"><path d="M3 6h16M3 16h16" stroke="var(--accent)" /><path d="M7 2v2M7 8v12M15 2v12M15 18v2" stroke="currentColor" /></g></svg>`;

/** The large weave of empty pages. */
export const Weave = () => html`<svg class="weave" viewBox="0 0 92 92" aria-hidden="true"><g fill="none" stroke-width="5" stroke-linecap="round"><path d="M10 26h72M10 46h72M10 66h72" stroke="var(--accent)" opacity=".85" /><path d="M26 10v10M26 32v28M26 72v10M46 10v30M46 52v30M66 10v10M66 32v28M66 72v10" stroke="var(--line-strong)" /></g></svg>`;
