/* Numbers: 42 1_000 0x2A 0b1010 0o52 3.14 1.0e-5 .5 5. — a dot belongs to the number unless another dot (a range) or a name (a member)
 * follows it. */
#include <string.h>
#include "frontend/syntax/lex_state.h"

static struct lexeme bad(struct lexer *lx, const char *p, const char *q, const char *why, const char *help)
{
	while (lex_is_word(*q))
		q++;
	struct diag *g = lex_error(lx, DIAG_BAD_NUMBER, p, q, "%s", why);
	if (help)
		diag_help(lx->diags, g, "%s", help);
	return (struct lexeme){TOK_ERROR, q, NULL};
}

static bool digit_of_base(char c, int base)
{
	if (base == 16)
		return lex_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
	return c >= '0' && c < '0' + base;
}

/* Skips digits with single underscores between them. *ok becomes false if an underscore is misplaced. */
static const char *lex_number_digits(const char *q, int base, bool *ok)
{
	while (digit_of_base(*q, base) || *q == '_') {
		if (*q == '_' && !(digit_of_base(q[-1], base) && digit_of_base(q[1], base)))
			*ok = false;
		q++;
	}
	return q;
}

static int lex_number_base_of(const char *p)
{
	if (p[0] != '0')
		return 10;
	switch (p[1] | 0x20) {
	case 'x': return 16;
	case 'o': return 8;
	case 'b': return 2;
	default: return 10;
	}
}

#define UNDERSCORE "an underscore in a number must be between two digits"

static struct lexeme with_prefix(struct lexer *lx, const char *p, int base)
{
	static const char *const missing[] = {[2] = "this binary number has no digits",
					      [8] = "this octal number has no digits",
					      [16] = "this hexadecimal number has no digits"};
	static const char *const wrong[] = {[2] = "a binary number has the digits 0 and 1 only",
					    [8] = "an octal number has the digits 0 to 7 only",
					    [16] = "a hexadecimal number has the digits 0 to 9 and a to f only"};
	bool ok = true;
	const char *q = p + 2;
	if (*q != '_')
		q = lex_number_digits(q, base, &ok);
	if (q == p + 2)
		return bad(lx, p, q, lex_is_word(*q) ? wrong[base] : missing[base], NULL);
	if (lex_is_word(*q))
		return bad(lx, p, q, wrong[base], NULL);
	return ok ? (struct lexeme){TOK_INT, q, NULL} : bad(lx, p, q, UNDERSCORE, NULL);
}

static bool is_exponent(const char *q)
{
	if ((*q | 0x20) != 'e')
		return false;
	q++;
	return lex_is_digit(*q) || ((*q == '+' || *q == '-') && lex_is_digit(q[1]));
}

static bool dot_is_ours(const char *q)
{
	return *q == '.' && q[1] != '.' && (!lex_is_word(q[1]) || lex_is_digit(q[1]) || is_exponent(q + 1));
}

static bool leading_zero(const char *p, const char *q) { return p[0] == '0' && q - p > 1; }

struct lexeme lex_number(struct lexer *lx, const char *p)
{
	int base = lex_number_base_of(p);
	if (base != 10)
		return with_prefix(lx, p, base);
	bool ok = true, whole = true;
	const char *q = lex_number_digits(p, 10, &ok), *int_end = q;
	if (dot_is_ours(q)) {
		whole = false;
		q++;
		if (*q == '_')
			ok = false;
		q = lex_number_digits(q, 10, &ok);
	}
	if (is_exponent(q)) {
		whole = false;
		q = lex_number_digits(q + 2, 10, &ok);
	}
	if (lex_is_word(*q) && (*q | 0x20) == 'e')
		return bad(lx, p, q, "the exponent of this number has no digits", NULL);
	if (*q == 'x' && lex_is_digit(q[1]))
		return bad(lx, p, q, "a shape is a list of dimensions: `[3, 4]`", NULL);
	if (lex_is_word(*q))
		return bad(lx, p, q, "letters follow this number",
			   "a name starts with a letter or `_`; write a type as a call: `float16(2)`");
	if (!ok)
		return bad(lx, p, q, UNDERSCORE, NULL);
	if (whole && leading_zero(p, int_end))
		return bad(lx, p, q, "a decimal number does not start with 0", "octal numbers are written `0o17`");
	return (struct lexeme){whole ? TOK_INT : TOK_FLOAT, q, NULL};
}
