// The views other than runs, loaded when needed or when the page is idle.
import { Empty } from "./core/empty.js";
import { html } from "./core/html.js";
import { Page } from "./core/page.js";
import { parts } from "./core/router.js";
import { Compare } from "./compare/compare.js";
import { ConversationPage, NewConversation } from "./conversations/conversation.js";
import { Conversations } from "./conversations/conversations.js";
import { NewGoal } from "./goal/new_goal.js";
import { PlanEditor } from "./goal/plan_editor.js";
import { Approvals } from "./pages/approvals.js";
import { BatchPage } from "./pages/batch.js";
import { Batches } from "./pages/batches.js";
import { Dashboard } from "./pages/dashboard.js";
import { EvaluationPage, Evaluations } from "./pages/evaluations.js";
import { Models } from "./pages/models.js";
import { Doctor, Settings } from "./pages/settings.js";
import { Replay } from "./replay/replay.js";
import { SkillPage } from "./skills/skill.js";
import { Skills } from "./skills/skills.js";

/** The view of an address. @param {string} path */
export function otherView(path) {
  const [first = "", second = ""] = parts(path);
  switch (first) {
    case "new": return html`<${NewGoal} />`;
    case "plan": return html`<${PlanEditor} />`;
    case "approvals": return html`<${Approvals} />`;
    case "compare": return html`<${Compare} />`;
    case "replay": return html`<${Replay} />`;
    case "dashboard": return html`<${Dashboard} />`;
    case "conversations": return second === "new" ? html`<${NewConversation} />` : second ? html`<${ConversationPage} key=${second} id=${second} />` : html`<${Conversations} />`;
    case "batches": return second ? html`<${BatchPage} key=${second} id=${second} />` : html`<${Batches} />`;
    case "evaluations": return second ? html`<${EvaluationPage} key=${second} id=${second} />` : html`<${Evaluations} />`;
    case "skills": return second ? html`<${SkillPage} key=${second} name=${second} />` : html`<${Skills} />`;
    case "models": return html`<${Models} />`;
    case "settings": return html`<${Settings} />`;
    case "doctor": return html`<${Doctor} />`;
    default: return html`<${Page} title="Not here"><${Empty} title="There is no page ${parts(path).join("/")}"><a class="btn" href="/runs">All runs</a></${Empty}></${Page}>`;
  }
}
