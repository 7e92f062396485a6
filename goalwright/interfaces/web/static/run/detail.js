// Builds the details of a step from its events: calls with their messages, tools with their results. Pure.

/**
 * @typedef {Record<string, any>} Row
 * @typedef {{ model: string, messages: Row[], tools: string[], reply: Row | null, seconds: number | null, error: string, retries: Row[], seq: number }} Call
 * @typedef {{ name: string, arguments: any, envelope: Row, log: Row | null, seq: number }} ToolUse
 * @typedef {object} Detail
 * @property {string | null} output @property {string | null} error @property {string} status @property {Call[]} calls @property {ToolUse[]} tools
 * @property {Row[]} prompts @property {Row[]} skills @property {Row[]} shortened @property {Row[]} notes @property {string | null} source @property {Row[]} rows
 */

/** @param {Row[]} rows @returns {Detail} */
export function detailOf(rows) {
  /** @type {Detail} */
  const detail = { output: null, error: null, status: "pending", calls: [], tools: [], prompts: [], skills: [], shortened: [], notes: [], source: null, rows };
  /** @type {Row[]} */
  let logs = [];
  for (const row of rows) {
    switch (row.type) {
      case "task_started": Object.assign(detail, { status: "running", error: null }); break;
      case "task_reused": Object.assign(detail, { status: "reused", output: row.output, source: row.source }); break;
      case "task_finished": Object.assign(detail, { status: row.status, output: row.output ?? detail.output, error: row.error ?? null }); break;
      case "prompt_made": detail.prompts.push(row); break;
      case "skill_loaded": detail.skills.push(row); break;
      case "skill_shortened": detail.shortened.push(row); break;
      case "call_started": detail.calls.push({ model: row.model, messages: row.messages ?? [], tools: row.tools ?? [], reply: null, seconds: null, error: "", retries: [], seq: row.seq }); break;
      case "call_retried": open(detail.calls, row)?.retries.push(row); break;
      case "call_finished": Object.assign(open(detail.calls, row) ?? {}, { reply: row.reply, seconds: row.seconds }); break;
      case "call_failed": Object.assign(open(detail.calls, row) ?? {}, { error: row.error, seconds: row.seconds }); break;
      case "tool_logged": logs.push(row); break;
      case "tool_called":
        detail.tools.push({ name: row.name, arguments: row.envelope?.context?.params_input ?? {}, envelope: row.envelope ?? {}, log: logs.findLast((one) => one.name === row.name) ?? null, seq: row.seq });
        logs = logs.filter((one) => one !== detail.tools[detail.tools.length - 1].log);
        break;
      case "condition_checked": case "result_checked": case "approval_asked": case "approval_given": detail.notes.push(row); break;
    }
  }
  const last = detail.calls[detail.calls.length - 1];
  if (detail.output === null && last?.reply && !rows.some((row) => row.type === "task_started")) detail.output = last.reply.text;
  return detail;
}

/** The call that a row ends: the last open one, of the same request if the row names it. @param {Call[]} calls @param {Row} row */
const open = (calls, row) => calls.findLast((call) => call.reply === null && !call.error && call.model === row.model) ?? calls.findLast((call) => call.reply === null && !call.error);

/** The new messages of each call; a later call repeats the earlier ones. @param {Call[]} calls @returns {{ call: Call, messages: Row[], repeated: number }[]} */
export function conversation(calls) {
  /** @type {Row[]} */
  let before = [];
  return calls.map((call) => {
    let same = 0;
    while (same < before.length && same < call.messages.length && equal(before[same], call.messages[same])) same++;
    const whole = same < before.length ? 0 : same;
    before = [...call.messages, ...(call.reply ? [asMessage(call.reply)] : [])];
    return { call, messages: call.messages.slice(whole), repeated: whole };
  });
}

/** @param {Row} a @param {Row} b */
const equal = (a, b) => a.role === b.role && a.content === b.content && same(a.tool_calls, b.tool_calls) && same(a.images, b.images);

/** @param {any[]} [a] @param {any[]} [b] */
const same = (a, b) => JSON.stringify(a ?? []) === JSON.stringify(b ?? []);

/** @param {Row} reply */
const asMessage = (reply) => ({ role: "assistant", content: reply.text, tool_calls: reply.tool_calls });
