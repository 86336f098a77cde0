// A tree-sitter grammar of .tri for highlighting and folding. Line ends are white space here, so that no external scanner is needed: where a line begins
// with `-`, `+`, `(`, `[` or `@`, the tree may join it to the line before. The reference is the grammar in ../../LANGUAGE.md.

const PREC = { ternary: 1, or: 2, and: 3, equality: 4, comparison: 5, range: 6, bit_or: 7, bit_xor: 8, bit_and: 9, shift: 10, sum: 11, product: 12, unary: 13, power: 14, postfix: 15 };

const list = (rule) => seq(rule, repeat(seq(',', rule)), optional(','));
const bare = (rule) => seq(rule, repeat(seq(',', rule)));

module.exports = grammar({
  name: 'tri',
  word: ($) => $.identifier,
  extras: ($) => [/\s/, $.comment],
  conflicts: ($) => [[$.range_expression]],

  rules: {
    source_file: ($) => repeat(choice($._item, ';')),

    comment: (_) => token(choice(seq('#', /[^\n]*/), seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/'))),

    // Definitions
    _item: ($) => choice($.import, $.from_import, $.let_statement, $.const_definition, $.type_alias, $.function_definition, $.layer_definition, $.main_block),
    import: ($) => prec.right(seq('import', field('module', $._module), optional(seq('as', field('alias', $.identifier))))),
    from_import: ($) =>
      prec.right(seq('from', field('module', $._module), 'import', choice(bare($.import_name), seq('(', list($.import_name), ')')))),
    import_name: ($) => prec.right(seq($.identifier, optional(seq('as', field('alias', $.identifier))))),
    _module: ($) => choice($.identifier, $.string),
    attribute: ($) => prec.right(seq('@', field('name', $.identifier), optional($.arguments))),
    const_definition: ($) =>
      prec.right(seq(repeat($.attribute), 'const', field('name', $.identifier), optional(seq(':', $._type)), '=', field('value', $._expression))),
    type_alias: ($) =>
      seq(repeat($.attribute), 'type', field('name', $.identifier), optional($.generics), '=', field('type', $._type)),
    function_definition: ($) => seq(repeat($.attribute), 'fn', $._signature, field('body', $.block)),
    layer_definition: ($) => seq(repeat($.attribute), 'layer', $._signature, field('body', $.layer_body)),
    _signature: ($) =>
      seq(
        field('name', $.identifier),
        optional($.generics),
        $.parameters,
        optional(seq('->', field('result', $._type))),
        optional(seq('where', list($._clause))),
      ),
    generics: ($) => seq('<', list($.generic), '>'),
    generic: ($) => seq($.identifier, optional(seq(':', $.traits))),
    traits: ($) => prec.left(seq($.identifier, repeat(seq('+', $.identifier)))),
    parameters: ($) => seq('(', optional(list($.parameter)), ')'),
    parameter: ($) => seq(field('name', $.identifier), optional(seq(':', $._type)), optional(seq('=', $._expression))),
    _clause: ($) => choice($.trait_clause, $._expression),
    trait_clause: ($) => seq($.identifier, ':', $.traits),
    layer_body: ($) => seq('{', repeat(choice($._member, ';')), '}'),
    _member: ($) => choice($.param_definition, $.state_definition, $._statement),
    param_definition: ($) =>
      prec.right(
        seq(repeat($.attribute), 'param', field('name', $.identifier), optional(seq(':', $._type)), optional(seq('=', $._expression))),
      ),
    state_definition: ($) =>
      prec.right(
        seq(repeat($.attribute), 'state', field('name', $.identifier), ':', $._type, optional(seq('=', $._expression))),
      ),
    main_block: ($) => seq('main', $.block),

    // Types
    _type: ($) => choice($.named_type, $.tuple_type, $.list_type, $.function_type, $.optional_type),
    function_type: ($) => prec.right(seq('fn', '(', optional(list($._type)), ')', optional(seq('->', field('result', $._type))))),
    optional_type: ($) => prec(1, seq($._type, '?')),
    named_type: ($) =>
      prec.right(
        seq(
          optional(seq(field('module', $.identifier), '.')),
          field('name', $.identifier),
          optional(choice(seq('<', list($._type_argument), '>'), seq('[', list($._type_argument), ']'))),
        ),
      ),
    tuple_type: ($) => seq('(', optional(list($._type)), ')'),
    list_type: ($) => seq('[', $._type, ']'),
    _type_argument: ($) =>
      choice($.named_type, $.integer, $.unknown_dimension, $.capacity, $.shape, $.type_group, $.dimension_negation, $.dimension_expression),
    unknown_dimension: (_) => '?',
    capacity: ($) => seq('cap', field('name', $.identifier)),
    shape: ($) => seq('[', optional(list($._type_argument)), ']'),
    type_group: ($) => seq('(', optional(list($._type_argument)), ')'),
    dimension_negation: ($) => prec(PREC.unary, seq('-', $._type_argument)),
    dimension_expression: ($) =>
      choice(
        prec.left(PREC.sum, seq($._type_argument, choice('+', '-'), $._type_argument)),
        prec.left(PREC.product, seq($._type_argument, choice('*', '//', '%'), $._type_argument)),
      ),

    // Statements
    block: ($) => seq('{', repeat(choice($._statement, ';')), '}'),
    _statement: ($) =>
      choice(
        $.let_statement,
        $.const_definition,
        $.type_alias,
        $.function_definition,
        $.assignment,
        $.for_statement,
        $.while_statement,
        $.break_statement,
        $.continue_statement,
        $.return_statement,
        $.assert_statement,
        $._expressions,
      ),
    _expressions: ($) => choice($._expression, $.bare_tuple),
    bare_tuple: ($) => prec.right(seq($._expression, repeat1(seq(',', $._expression)))),
    let_statement: ($) =>
      prec.right(seq('let', bare($._pattern), choice(seq(':', $._type), seq(optional(seq(':', $._type)), '=', field('value', $._expressions))))),
    assignment: ($) => prec.right(seq($._expressions, choice('=', '+=', '-=', '*=', '/=', '@=', '&=', '|=', '^=', '<<=', '>>='), choice($._expressions, $.assignment))),
    for_statement: ($) => seq(repeat($.attribute), 'for', bare($._pattern), 'in', $._expression, $.block),
    while_statement: ($) => seq('while', $._expression, $.block),
    break_statement: (_) => 'break',
    continue_statement: (_) => 'continue',
    return_statement: ($) => prec.right(seq('return', optional($._expressions))),
    assert_statement: ($) => prec.right(seq('assert', $._expressions)),

    _pattern: ($) => choice($.identifier, $.tuple_pattern, $.list_pattern),
    tuple_pattern: ($) => seq('(', list($._pattern), ')'),
    list_pattern: ($) => seq('[', optional(list(choice($._pattern, $.rest_pattern))), ']'),
    rest_pattern: ($) => seq('...', $.identifier),

    // Expressions
    _expression: ($) =>
      choice(
        $.identifier,
        alias('where', $.identifier),
        $.integer,
        $.float,
        $.string,
        $.fstring,
        $.true,
        $.false,
        $.none,
        $.block,
        $.if_expression,
        $.parenthesized,
        $.tuple,
        $.list,
        $.comprehension,
        $.call,
        $.member,
        $.index,
        $.unary_expression,
        $.binary_expression,
        $.range_expression,
        $.ternary_expression,
      ),
    if_expression: ($) =>
      prec.right(
        seq('if', field('condition', $._expression), $.block, optional(seq('else', choice($.block, $.if_expression)))),
      ),
    parenthesized: ($) => seq('(', $._expression, ')'),
    tuple: ($) => choice(seq('(', ')'), seq('(', $._expression, ',', optional(list($._expression)), ')')),
    list: ($) => seq('[', optional(list($._expression)), ']'),
    comprehension: ($) => seq('[', $._expression, $.for_clause, repeat(choice($.for_clause, $.if_clause)), ']'),
    for_clause: ($) => seq('for', bare($._pattern), 'in', $._expression),
    if_clause: ($) => seq('if', $._expression),
    call: ($) => prec(PREC.postfix, seq(field('function', $._expression), $.arguments)),
    arguments: ($) => seq('(', optional(list(choice($._expression, $.named_argument))), ')'),
    named_argument: ($) => seq(field('name', choice($.identifier, alias($._keyword, $.identifier))), choice('=', ':'), $._expression),
    member: ($) => prec(PREC.postfix, seq($._expression, '.', field('name', choice($.identifier, alias($._keyword, $.identifier))))),
    _keyword: (_) => choice('type', 'from', 'import', 'as', 'in', 'layer', 'fn', 'param', 'state', 'cap', 'main', 'const'),
    index: ($) => prec(PREC.postfix, seq($._expression, '[', list($._subscript), ']')),
    _subscript: ($) => choice($._expression, $.slice, $.ellipsis),
    slice: ($) => seq(optional($._expression), ':', optional($._expression), optional(seq(':', optional($._expression)))),
    ellipsis: (_) => '...',
    unary_expression: ($) => prec(PREC.unary, seq(choice('-', '+', '!', '~'), $._expression)),
    binary_expression: ($) =>
      choice(
        prec.left(PREC.or, seq($._expression, '||', $._expression)),
        prec.left(PREC.and, seq($._expression, '&&', $._expression)),
        prec.left(PREC.equality, seq($._expression, choice('==', '!=', 'in'), $._expression)),
        prec.left(PREC.comparison, seq($._expression, choice('<', '<=', '>', '>='), $._expression)),
        prec.left(PREC.bit_or, seq($._expression, '|', $._expression)),
        prec.left(PREC.bit_xor, seq($._expression, '^', $._expression)),
        prec.left(PREC.bit_and, seq($._expression, '&', $._expression)),
        prec.left(PREC.shift, seq($._expression, choice('<<', '>>'), $._expression)),
        prec.left(PREC.sum, seq($._expression, choice('+', '-'), $._expression)),
        prec.left(PREC.product, seq($._expression, choice('*', '/', '//', '%', '@'), $._expression)),
        prec.right(PREC.power, seq($._expression, '**', $._expression)),
      ),
    range_expression: ($) =>
      prec(PREC.range, seq($._expression, choice('..', '..='), $._expression, optional(seq(':', $._expression)))),
    ternary_expression: ($) => prec.right(PREC.ternary, seq($._expression, '?', $._expression, ':', $._expression)),

    // Literals
    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
    integer: (_) => token(choice(/0[xX][0-9A-Fa-f_]+/, /0[bB][01_]+/, /0[oO][0-7_]+/, /[0-9][0-9_]*/)),
    float: (_) => token(choice(/[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?/, /[0-9][0-9_]*[eE][+-]?[0-9_]+/, /\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?/)),
    string: (_) => token(choice(/"([^"\\\n]|\\.)*"/, /'([^'\\\n]|\\.)*'/)),
    fstring: ($) =>
      choice(
        seq('f"', repeat(choice(token.immediate(prec(1, /([^"\\{}\n]|\\.|\{\{|\}\})+/)), $.interpolation)), token.immediate('"')),
        seq("f'", repeat(choice(token.immediate(prec(1, /([^'\\{}\n]|\\.|\{\{|\}\})+/)), $.interpolation)), token.immediate("'")),
      ),
    interpolation: ($) => seq('{', $._expression, optional('='), optional($.format), '}'),
    format: (_) => token.immediate(/:[^{}"'\n]*/),
    true: (_) => 'true',
    false: (_) => 'false',
    none: (_) => choice('none', 'None'),
  },
});
