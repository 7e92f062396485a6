// The questions of a run and their answers.
import { html } from "../core/html.js";
import { LongText } from "../core/long_text.js";
import { Markdown } from "../core/markdown.js";
import { fullTitle } from "./names.js";

/** @param {{ state: import("./fold.js").State, onSelect: (id: string) => void }} props open questions are in the answer form instead */
export function Questions({ state, onSelect }) {
  const answered = state.questions.filter((one) => one.answer !== null);
  return answered.length > 0 && html`<h3 class="sec">${answered.length === 1 ? "A question" : "Questions"}</h3>${answered.map((one) => html`<div class="note" key=${one.id}><b>It asked</b>${one.task && state.spans.has(one.task) && html` for <button type="button" class="linkish" onClick=${() => onSelect(one.task ?? "")}>${fullTitle(/** @type {any} */ (state.spans.get(one.task)), state.spans)}</button>`}<${Markdown} text=${one.question} />
    <b>Answered</b><div dir="auto"><${LongText} text=${one.answer ?? ""} /></div></div>`)}`;
}
