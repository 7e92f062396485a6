// What the server says, in words of the page: an option of a command is a field, a button or a setting here. Pure.

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
];

/** @param {string} text */
export const inPageWords = (text) => WORDS.reduce((now, [pattern, words]) => now.replace(pattern, words), text);
