// Folds recorded runs and compares with what the server says of them: `node same_fold.mjs FILE`, a line for each run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { apply, empty, fromDocument, skillsUsed } from "../../../../../../goalwright/interfaces/web/static/run/fold.js";
import { criticalPath, criticalSegments } from "../../../../../../goalwright/interfaces/web/static/run/critical_path.js";

/** Equal but for the digits that a browser's clock does not have. */
function same(a, b, where) {
  if (typeof a === "number" && typeof b === "number") assert.ok(Math.abs(a - b) < 0.02, `${where}: ${a} and ${b}`);
  else if (a && b && typeof a === "object") {
    assert.deepEqual(Object.keys(a), Object.keys(b), where);
    for (const key of Object.keys(a)) same(a[key], b[key], `${where}.${key}`);
  } else assert.equal(a, b, where);
}
const spansOf = (state) => Object.fromEntries([...state.spans.values()].filter((span) => !(span.id === "(plan)" && span.start === null)).map(({ id, kind, name, title, status, depends_on, start, end, attempts, calls, tokens, cost_usd, tools, waited_for, error, retries, tries, item, replaced_by }) => [id, { kind, name, title, status, depends_on, start, end, attempts, calls, tokens, cost_usd, tools, waited_for, error, retries, tries, item, replaced_by }]));

let count = 0;
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  const { rows, document } = JSON.parse(line);
  const folded = empty();
  for (const row of rows) apply(folded, row);
  const read = fromDocument(document);
  if (read.status === "interrupted") folded.status = "interrupted"; // no event says so: its process is gone
  if (read.status === "interrupted") folded.spans.forEach((span) => span.status === "running" && (span.status = "interrupted"));
  if (read.status === "interrupted") folded.spans.forEach((span) => span.tries.filter((one) => one.end === null).forEach((one) => Object.assign(one, { end: folded.seconds, status: "interrupted" })));
  same(spansOf(folded), spansOf(read), document.run_id);
  assert.deepEqual(criticalPath(folded), document.critical_path, document.run_id);
  same(criticalSegments(folded), document.critical_segments, document.run_id);
  const sum = document.critical_segments.reduce((all, one) => all + one.end - one.start, 0);
  same(sum, document.seconds, `${document.run_id}: the time on the critical path`);
  same(folded.changes, read.changes, document.run_id);
  assert.deepEqual(folded.questions, document.questions, document.run_id);
  same(folded.dropped.map((span) => span.id), read.dropped.map((span) => span.id), document.run_id);
  for (const name of ["usage", "cost", "seconds", "answer", "question", "error", "status", "parent"]) same(folded[name], read[name], `${document.run_id}.${name}`);
  assert.deepEqual([...skillsUsed(folded)].sort(), [...document.skills_used].sort(), document.run_id);
  assert.deepEqual(folded.warnings, document.warnings, document.run_id);
  count++;
}
console.log(count);
