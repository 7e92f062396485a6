// __TOOL__: reads one line of JSON, prints one line of JSON.
const { readFileSync } = require("node:fs");

const LIMIT = 100000;

// The output, or an Error that says the problem, the value and the next step.
function run({ text }) {
  if (typeof text !== "string") {
    throw new Error(`text is missing or not a string: ${JSON.stringify(text)} — give the text to count`);
  }
  if (text.length > LIMIT) {
    throw new Error(`text is too long: ${text.length} characters — split it, the limit is ${LIMIT}`);
  }
  return { words: text.split(/\s+/).filter(Boolean).length, characters: [...text].length };
}

let answer;
try {
  const request = JSON.parse(readFileSync(0, "utf8").split("\n")[0]);
  answer = { output: run(request.arguments ?? {}), error: "" };
} catch (error) {
  answer = { output: "", error: error.message };
}
console.log(JSON.stringify(answer));
