// What the server and a run's record say, in words of the page: an option of a command is a field, a button or a setting
// here, or else one of a terminal. Pure.

/** @type {[RegExp, string][]} */
const WORDS = [
  [/so that --max-cost cannot hold/, "so that a limit on cost cannot hold"],
  [/or pass --allow-unknown-cost, which counts/, "or set allow_unknown_cost = true there, which counts"],
  [/another --model\b/, "another model"],
  [/ with --model\b/, ""],
  [/write a plan and use --plan\b/, "write the plan yourself"],
  [/run it with --plan\b/, "edit the plan as new"],
  [/pass it with --file\b/, "add it under Files"],
  [/all rounds run again with --from (\S+)/, "all rounds run again if you rerun from $1"],
  [/pass --trust\b/, "continue it in a terminal with --trust"],
  [/ at (\$\S+) of --max-cost (\$[\d.e+-]*\d)/, " at $1 of the $2 that it may cost"],
  [/ at (\S+) of --max-tokens ([\d,]*\d)/, " at $1 of the $2 tokens that it may use"],
  [/raise --max-(cost|tokens) to continue/, "raise the limit on $1 to continue"],
  [/: --max-cost counts\b/, ": the limit on cost counts"],
  [/(with|pass|use) (?=--(?:allow-[a-z-]+|approve-all|detector|journal|plan|skill|tools|without|write)\b)/g, "in a terminal $1 "],
];

/** @param {string} text */
export const inPageWords = (text) => WORDS.reduce((now, [pattern, words]) => now.replace(pattern, words), text);
