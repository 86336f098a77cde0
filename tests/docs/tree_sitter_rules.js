// Prints a tree-sitter grammar as JSON, as the tree-sitter tool would read it. usage: node tree_sitter_rules.js GRAMMAR_JS
const node = (type, rest) => ({ type, ...rest });
const rule = (r) => (typeof r === 'string' ? node('STRING', { value: r }) : r instanceof RegExp ? node('PATTERN', { value: r.source }) : r);
const members = (rs) => ({ members: rs.map(rule) });
const content = (r) => ({ content: rule(r) });
const precedence = (a, b) => rule(b === undefined ? a : b);

global.seq = (...rs) => node('SEQ', members(rs));
global.choice = (...rs) => node('CHOICE', members(rs));
global.optional = (r) => choice(r, node('BLANK'));
global.repeat = (r) => node('REPEAT', content(r));
global.repeat1 = (r) => node('REPEAT1', content(r));
global.field = (_, r) => rule(r);
global.alias = (r) => rule(r);
global.token = (r) => node('TOKEN', content(r));
global.token.immediate = (r) => node('TOKEN', content(r));
global.prec = precedence;
for (const kind of ['left', 'right', 'dynamic']) global.prec[kind] = precedence;

global.grammar = (options) => {
  const $ = new Proxy({}, { get: (_, name) => node('SYMBOL', { name }) });
  const rules = {};
  for (const [name, make] of Object.entries(options.rules)) rules[name] = rule(make($));
  return { name: options.name, rules, conflicts: options.conflicts($) };
};

console.log(JSON.stringify(require(require('path').resolve(process.argv[2]))));
