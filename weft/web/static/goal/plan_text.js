// The text of a plan: where its tasks stand in it, and changes to it that leave the rest as it is. Pure.

/** @typedef {{ id: string, title: string, kind: string, name: string, depends_on: string[], line: number, end: number }} Outlined */

const TASK = /^(\s*)-\s+(?:"?(?:id|task_id)"?)\s*:\s*(.+?)\s*$/;
const BEGIN = /^(\s*)-\s+\S/;
const KEY = /^(\s*)(?:-\s+)?"?([\w-]+)"?\s*:\s*(.*?)\s*$/;

/** @param {string} text */
const bare = (text) => text.trim().replace(/,$/, "").replace(/^(["'])(.*)\1$/, "$2");

/** The items of a list in brackets, or of lines below. @param {string[]} lines @param {number} at @param {string} value @param {number} indent */
function items(lines, at, value, indent) {
  if (value.startsWith("[")) return { list: value.replace(/^\[|\],?$/g, "").split(",").map(bare).filter(Boolean), last: at };
  if (value) return { list: [bare(value)], last: at };
  const list = [];
  let last = at;
  for (let i = at + 1; i < lines.length; i++) {
    const item = /^(\s*)-\s+(.*)$/.exec(lines[i]);
    if (!item || item[1].length < indent || KEY.test(item[2]) || TASK.test(lines[i])) break;
    list.push(bare(item[2]));
    last = i;
  }
  return { list, last };
}

/** The tasks as far as they can be read, faults or not; lines count from 1. @param {string} text @returns {Outlined[]} */
export function outline(text) {
  const lines = text.split("\n");
  /** @type {Outlined[]} */
  const tasks = [];
  let depth = -1;
  /** @type {Outlined | null} */
  let task = null;
  lines.forEach((line, at) => {
    const begin = BEGIN.exec(line);
    if (begin && !inside(lines, at) && (depth < 0 ? TASK.test(line) || KEY.test(line) : begin[1].length === depth)) {
      depth = begin[1].length;
      task = { id: "", title: "", kind: "llm", name: "", depends_on: [], line: at + 1, end: at + 1 };
      tasks.push(task);
    } else if (depth >= 0 && /^\S/.test(line) && !line.startsWith("-") && !line.startsWith("#")) task = null;
    if (!task) return;
    if (line.trim()) task.end = at + 1;
    const key = KEY.exec(line);
    if (!key || key[1].length + (begin ? 2 : 0) > depth + 2) return;
    read(task, key[2], key[3], lines, at, key[1].length);
  });
  return tasks.filter((one) => one.id);
}

/** Whether a line is an item of a list inside a task. @param {string[]} lines @param {number} at */
function inside(lines, at) {
  const indent = /^\s*/.exec(lines[at])?.[0].length ?? 0;
  for (let i = at - 1; i >= 0; i--) {
    const found = KEY.exec(lines[i]);
    if (found && !/^\s*-\s/.test(lines[i])) return found[2] === "depends_on" && found[3] === "" && found[1].length <= indent;
    if (found) return false;
  }
  return false;
}

/** @param {Outlined} task @param {string} key @param {string} value @param {string[]} lines @param {number} at @param {number} indent */
function read(task, key, value, lines, at, indent) {
  if (key === "id" || key === "task_id") task.id = bare(value);
  else if (key === "title") task.title = bare(value);
  else if (key === "action_type") task.kind = bare(value);
  else if (key === "name") task.name = bare(value);
  else if (key === "depends_on") task.depends_on = items(lines, at, value.replace(/,$/, ""), indent).list;
}

/** A plan to start from. @param {string} goal */
export const blank = (goal) => `goal: ${JSON.stringify(goal || "What should be reached")}\ntasks:\n- id: first\n  title: The first task\n  action_type: llm\n  instruction: Say what to do.\n`;

/** A free id. @param {string} text */
export function freeId(text) {
  const taken = new Set(outline(text).map((task) => task.id));
  let number = taken.size + 1;
  while (taken.has(`task-${number}`)) number++;
  return `task-${number}`;
}

/** Another task, behind all others. @param {string} text @param {string[]} [depends_on] @returns {{ text: string, id: string }} */
export function addTask(text, depends_on = []) {
  const id = freeId(text);
  const lines = text.split("\n");
  const tasks = outline(text);
  const indent = tasks.length ? " ".repeat(/^\s*/.exec(lines[tasks[0].line - 1])?.[0].length ?? 0) : "";
  const added = [`${indent}- id: ${id}`, `${indent}  title: A new task`, `${indent}  action_type: llm`, `${indent}  instruction: Say what to do.`, ...(depends_on.length ? [`${indent}  depends_on: [${depends_on.join(", ")}]`] : [])];
  if (!tasks.length) return { text: `${text.trimEnd()}${text.trim() ? "\n" : ""}${/^tasks:/m.test(text) ? "" : "tasks:\n"}${added.join("\n")}\n`, id };
  lines.splice(tasks[tasks.length - 1].end, 0, ...added);
  return { text: lines.join("\n"), id };
}

/** Another id for a task, where others name it too. @param {string} text @param {string} from @param {string} to */
export function renameTask(text, from, to) {
  const lines = text.split("\n");
  const word = new RegExp(`(?<![\\w-])${from.replace(/[-\\^$*+?.()|[\]{}]/g, "\\$&")}(?![\\w-])`, "g");
  for (const task of outline(text)) {
    for (let at = task.line - 1; at < task.end; at++) {
      const key = KEY.exec(lines[at]);
      const isList = /^\s*-\s+[^:]+$/.test(lines[at]) && inside(lines, at);
      if (isList || key?.[2] === "depends_on" || (key && (key[2] === "id" || key[2] === "task_id") && bare(key[3]) === from)) lines[at] = lines[at].replace(word, to);
    }
  }
  return lines.join("\n").replace(new RegExp(`<<(\\s*)${from.replace(/[-\\^$*+?.()|[\]{}]/g, "\\$&")}(\\.output)`, "g"), `<<$1${to}$2`);
}

/** What a task depends on. @param {string} text @param {string} id @param {string[]} depends_on */
export function relink(text, id, depends_on) {
  const lines = text.split("\n");
  const task = outline(text).find((one) => one.id === id);
  if (!task) return text;
  const indent = (/^(\s*)-/.exec(lines[task.line - 1])?.[1] ?? "") + "  ";
  const written = depends_on.length ? [`${indent}depends_on: [${depends_on.join(", ")}]`] : [];
  for (let at = task.line - 1; at < task.end; at++) {
    const key = KEY.exec(lines[at]);
    if (key?.[2] !== "depends_on") continue;
    const { last } = items(lines, at, key[3], key[1].length);
    lines.splice(at, last - at + 1, ...written);
    return lines.join("\n");
  }
  lines.splice(task.end, 0, ...written);
  return lines.join("\n");
}

/** The plan without a task, and without its name where others depend on it. @param {string} text @param {string} id */
export function removeTask(text, id) {
  const task = outline(text).find((one) => one.id === id);
  if (!task) return text;
  const lines = text.split("\n");
  lines.splice(task.line - 1, task.end - task.line + 1);
  return outline(lines.join("\n")).reduce((now, one) => (one.depends_on.includes(id) ? relink(now, one.id, one.depends_on.filter((other) => other !== id)) : now), lines.join("\n"));
}
