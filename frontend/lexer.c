/* The lexer's hot loop. One switch on the class of a byte per token; names, white space and comments are scanned 16 bytes at a time where
 * SSE2 is there. White space is remembered only as a newline bit on the next token. Keywords are found by a perfect hash of the name's
 * first eight bytes. Whatever is rare or wrong is in lex_*.c. */
#include "frontend/lexer.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "frontend/lex_state.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum byte_class { BAD, BLANK, NEWLINE, WORD, DIGIT, SINGLE, OPERATOR, DOT, SLASH, HASH, QUOTE, OPEN_BRACE, CLOSE_BRACE, NUL };

static const uint8_t classes[256] = {
	[0] = NUL, [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\n'] = NEWLINE,
	['a'] = WORD, ['b'] = WORD, ['c'] = WORD, ['d'] = WORD, ['e'] = WORD, ['f'] = WORD, ['g'] = WORD, ['h'] = WORD, ['i'] = WORD,
	['j'] = WORD, ['k'] = WORD, ['l'] = WORD, ['m'] = WORD, ['n'] = WORD, ['o'] = WORD, ['p'] = WORD, ['q'] = WORD, ['r'] = WORD,
	['s'] = WORD, ['t'] = WORD, ['u'] = WORD, ['v'] = WORD, ['w'] = WORD, ['x'] = WORD, ['y'] = WORD, ['z'] = WORD,
	['A'] = WORD, ['B'] = WORD, ['C'] = WORD, ['D'] = WORD, ['E'] = WORD, ['F'] = WORD, ['G'] = WORD, ['H'] = WORD, ['I'] = WORD,
	['J'] = WORD, ['K'] = WORD, ['L'] = WORD, ['M'] = WORD, ['N'] = WORD, ['O'] = WORD, ['P'] = WORD, ['Q'] = WORD, ['R'] = WORD,
	['S'] = WORD, ['T'] = WORD, ['U'] = WORD, ['V'] = WORD, ['W'] = WORD, ['X'] = WORD, ['Y'] = WORD, ['Z'] = WORD, ['_'] = WORD,
	['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT,
	['9'] = DIGIT,
	['('] = SINGLE, [')'] = SINGLE, ['['] = SINGLE, [']'] = SINGLE, [','] = SINGLE, [';'] = SINGLE, [':'] = SINGLE, ['?'] = SINGLE, ['%'] = SINGLE,
	['+'] = OPERATOR, ['-'] = OPERATOR, ['*'] = OPERATOR, ['<'] = OPERATOR, ['>'] = OPERATOR, ['='] = OPERATOR, ['!'] = OPERATOR,
	['&'] = OPERATOR, ['|'] = OPERATOR, ['@'] = OPERATOR,
	['.'] = DOT, ['/'] = SLASH, ['#'] = HASH, ['"'] = QUOTE, ['\''] = QUOTE, ['{'] = OPEN_BRACE, ['}'] = CLOSE_BRACE,
};

/* The kind of a byte as a token of its own; 0 where it is none. */
static const uint8_t singles[256] = {
	['('] = TOK_LPAREN, [')'] = TOK_RPAREN, ['['] = TOK_LBRACKET, [']'] = TOK_RBRACKET, [','] = TOK_COMMA, [';'] = TOK_SEMICOLON,
	[':'] = TOK_COLON, ['?'] = TOK_QUESTION, ['%'] = TOK_PERCENT, ['+'] = TOK_PLUS, ['-'] = TOK_MINUS, ['*'] = TOK_STAR, ['<'] = TOK_LT,
	['>'] = TOK_GT, ['='] = TOK_ASSIGN, ['!'] = TOK_BANG, ['@'] = TOK_AT,
};
/* The kind of a byte followed by `=`. */
static const uint8_t with_equals[256] = {
	['+'] = TOK_PLUS_EQ, ['-'] = TOK_MINUS_EQ, ['*'] = TOK_STAR_EQ, ['<'] = TOK_LE, ['>'] = TOK_GE, ['='] = TOK_EQ, ['!'] = TOK_NE,
	['@'] = TOK_AT_EQ,
};

/* A multiplier under which no two keywords share a slot; checked whenever the table is built. */
#define KEYWORD_SLOTS 64
#define KEYWORD_HASH(word) ((word) * 0x1773308cdc6b13abull >> 58)

struct keywords {
	uint64_t words[KEYWORD_SLOTS];
	uint8_t kinds[KEYWORD_SLOTS];
};

static uint64_t word_of(const char *text, size_t n)
{
	uint64_t w = 0;
	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)(unsigned char)text[i] << (8 * i);
	return w;
}

static void add_keyword(struct keywords *k, const char *text, enum token_kind kind)
{
	size_t n = strlen(text);
	BUG_ON(n > 8);
	uint64_t word = word_of(text, n), slot = KEYWORD_HASH(word);
	BUG_ON(k->words[slot]);
	k->words[slot] = word;
	k->kinds[slot] = (uint8_t)kind;
}

static void build_keywords(struct keywords *k)
{
	memset(k, 0, sizeof *k);
	for (int i = 0; i < TOK_COUNT; i++)
		if (token_class((enum token_kind)i) == TOKEN_KEYWORD)
			add_keyword(k, token_kind_text((enum token_kind)i), (enum token_kind)i);
	add_keyword(k, "None", TOK_NONE);
	add_keyword(k, "True", TOK_FOREIGN_TRUE);
	add_keyword(k, "False", TOK_FOREIGN_FALSE);
}

/* Where the run of name bytes that p is in ends. `wide`: the last place from which 16 bytes may be read. */
static inline const char *word_end(const char *p, const char *wide)
{
#if defined(__SSE2__)
	while (p <= wide) {
		__m128i v = _mm_loadu_si128((const __m128i *)p), zero = _mm_setzero_si128();
		__m128i letter = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
		__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
		__m128i is_letter = _mm_cmpeq_epi8(_mm_subs_epu8(letter, _mm_set1_epi8(25)), zero);
		__m128i is_digit = _mm_cmpeq_epi8(_mm_subs_epu8(digit, _mm_set1_epi8(9)), zero);
		__m128i is_word = _mm_or_si128(_mm_or_si128(is_letter, is_digit), _mm_cmpeq_epi8(v, _mm_set1_epi8('_')));
		unsigned other = (unsigned)_mm_movemask_epi8(is_word) ^ 0xffff;
		if (other)
			return p + __builtin_ctz(other);
		p += 16;
	}
#endif
	(void)wide;
	while (classes[(unsigned char)*p] == WORD || classes[(unsigned char)*p] == DIGIT)
		p++;
	return p;
}

/* Skips spaces and tabs. */
static inline const char *blank_end(const char *p, const char *wide)
{
#if defined(__SSE2__)
	while (p <= wide) {
		__m128i v = _mm_loadu_si128((const __m128i *)p);
		__m128i blank = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\t')));
		unsigned other = (unsigned)_mm_movemask_epi8(blank) ^ 0xffff;
		if (other)
			return p + __builtin_ctz(other);
		p += 16;
	}
#endif
	(void)wide;
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* The next `stop`, NUL or byte >= 0x80 from p on. */
static inline const char *scan_to(const char *p, const char *wide, char stop)
{
#if defined(__SSE2__)
	while (p <= wide) {
		__m128i v = _mm_loadu_si128((const __m128i *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(stop)), _mm_cmpeq_epi8(v, _mm_setzero_si128()));
		unsigned bits = (unsigned)_mm_movemask_epi8(_mm_or_si128(hit, v));
		if (bits)
			return p + __builtin_ctz(bits);
		p += 16;
	}
#endif
	(void)wide;
	while (*p != stop && (signed char)*p > 0)
		p++;
	return p;
}

static const char *line_comment_end(struct lexer *lx, const char *p, const char *wide)
{
	for (;;) {
		p = scan_to(p, wide, '\n');
		if (*p == '\n' || p >= lx->end)
			return p;
		p = lex_special_byte(lx, p);
	}
}

/* p after the opening mark. Sets *newline where the comment spans lines. */
static const char *block_comment_end(struct lexer *lx, const char *p, const char *wide, uint8_t *newline)
{
	const char *start = p - 2, *body = p;
	for (;;) {
		p = scan_to(p, wide, '*');
		if (*p == '*' && p[1] == '/')
			break;
		if (p >= lx->end) {
			struct diag *g = lex_error(lx, DIAG_UNTERMINATED_COMMENT, start, start + 2, "this comment is never closed");
			diag_help(lx->diags, g, "close it with `*/`");
			return lx->end;
		}
		p = *p == '*' ? p + 1 : lex_special_byte(lx, p);
	}
	if (memchr(body, '\n', (size_t)(p - body)))
		*newline = TOKEN_NEWLINE;
	return p + 2;
}

static inline struct lexeme operator_at(struct lexer *lx, const char *p)
{
	unsigned char c = (unsigned char)*p;
	if (p[1] == '=')
		if (with_equals[c])
			return (struct lexeme){(enum token_kind)with_equals[c], p + 2};
	if (c == '*' && p[1] == '*')
		return (struct lexeme){TOK_STAR2, p + 2};
	if (c == '-' && p[1] == '>')
		return (struct lexeme){TOK_ARROW, p + 2};
	if ((c == '&' || c == '|') && p[1] == *p)
		return (struct lexeme){c == '&' ? TOK_AND : TOK_OR, p + 2};
	if (!singles[c])
		return lex_bad_character(lx, p);
	return (struct lexeme){(enum token_kind)singles[c], p + 1};
}

static inline struct lexeme dot_at(struct lexer *lx, const char *p)
{
	if (p[1] == '.') {
		if (p[2] == '.')
			return (struct lexeme){TOK_DOT3, p + 3};
		return p[2] == '=' ? (struct lexeme){TOK_DOT2_EQ, p + 3} : (struct lexeme){TOK_DOT2, p + 2};
	}
	return lex_is_digit(p[1]) ? lex_number(lx, p) : (struct lexeme){TOK_DOT, p + 1};
}

static inline struct lexeme number_at(struct lexer *lx, const char *p)
{
	const char *q = p + 1;
	while (lex_is_digit(*q))
		q++;
	uint8_t c = classes[(unsigned char)*q];
	if (c == WORD || c == DOT || (*p == '0' && q != p + 1))
		return lex_number(lx, p);
	return (struct lexeme){TOK_INT, q};
}

static inline enum token_kind word_kind(const struct keywords *k, const char *p, size_t n, const char *wide)
{
	if (n > 8)
		return TOK_NAME;
	uint64_t w;
	if (p <= wide) {
		memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		w = __builtin_bswap64(w);
#endif
		w &= ~0ull >> (64 - 8 * n);
	} else {
		w = word_of(p, n);
	}
	uint64_t slot = KEYWORD_HASH(w);
	return k->words[slot] == w ? (enum token_kind)k->kinds[slot] : TOK_NAME;
}

static void *grow(void *at, size_t n, size_t size)
{
	void *new = realloc(at, n * size);
	if (!new)
		bug_no_memory();
	return new;
}

static void reserve(struct tokens *t, uint32_t cap)
{
	t->kinds = grow(t->kinds, cap, sizeof *t->kinds);
	t->starts = grow(t->starts, cap, sizeof *t->starts);
	t->ends = grow(t->ends, cap, sizeof *t->ends);
	t->cap = cap;
}

static uint32_t count_lines(const char *p, const char *end)
{
	uint32_t n = 0;
	for (const char *q = p; q < end; q++)
		n += *q == '\n';
	return n + (end > p && end[-1] != '\n');
}

static inline void put(struct tokens *t, uint8_t kind, uint32_t start, uint32_t end)
{
	if (t->len == t->cap)
		reserve(t, t->cap + t->cap / 2);
	t->kinds[t->len] = kind;
	t->starts[t->len] = start;
	t->ends[t->len++] = end;
}

/* An f-string's interpolation is cut off: ends each open f-string so that the parser need not know. */
static void cut_fstrings(struct lexer *lx, struct tokens *t, const char *p)
{
	uint32_t at = (uint32_t)(p - lx->text);
	for (uint32_t i = lx->n_fstr; i; i--)
		put(t, TOK_FSTR_TAIL, at, at);
	lex_fstring_cut(lx);
}

static void scan(struct lexer *lx, struct tokens *out, const struct keywords *k)
{
	struct tokens t = *out; /* a copy that the compiler may keep in registers */
	const char *p = lx->text, *text = p, *end = lx->end, *wide = end - p >= 16 ? end - 16 : p - 1;
	uint8_t newline = TOKEN_NEWLINE;
	if (end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
		p += 3;
	for (;;) {
		struct lexeme s;
		switch ((enum byte_class)classes[(unsigned char)*p]) {
		case BLANK:
			p++;
			if (*p == ' ')
				p = blank_end(p, wide);
			continue;
		case NEWLINE:
			if (lx->n_fstr)
				cut_fstrings(lx, &t, p);
			newline = TOKEN_NEWLINE;
			p = blank_end(p + 1, wide);
			continue;
		case HASH:
			p = line_comment_end(lx, p + 1, wide);
			continue;
		case SLASH:
			if (p[1] == '*') {
				p = block_comment_end(lx, p + 2, wide, &newline);
				continue;
			}
			if (p[1] == '/')
				s = (struct lexeme){TOK_SLASH2, p + 2};
			else
				s = p[1] == '=' ? (struct lexeme){TOK_SLASH_EQ, p + 2} : (struct lexeme){TOK_SLASH, p + 1};
			break;
		case WORD:
			s.end = word_end(p, wide);
			if (s.end == p + 1 && *p == 'f' && classes[(unsigned char)*s.end] == QUOTE)
				s = lex_fstring(lx, p);
			else
				s.kind = word_kind(k, p, (size_t)(s.end - p), wide);
			break;
		case DIGIT: s = number_at(lx, p); break;
		case SINGLE: s = (struct lexeme){(enum token_kind)singles[(unsigned char)*p], p + 1}; break;
		case OPERATOR: s = operator_at(lx, p); break;
		case DOT: s = dot_at(lx, p); break;
		case QUOTE: s = lex_string(lx, p); break;
		case OPEN_BRACE:
			if (lx->n_fstr)
				lx->fstr[lx->n_fstr - 1].braces++;
			s = (struct lexeme){TOK_LBRACE, p + 1};
			break;
		case CLOSE_BRACE:
			s = (struct lexeme){TOK_RBRACE, p + 1};
			if (!lx->n_fstr)
				break;
			if (lx->fstr[lx->n_fstr - 1].braces)
				lx->fstr[lx->n_fstr - 1].braces--;
			else
				s = lex_fstring_more(lx, p);
			break;
		case NUL:
			if (p >= end) {
				if (lx->n_fstr)
					cut_fstrings(lx, &t, p);
				put(&t, TOK_EOF | newline, (uint32_t)(end - text), (uint32_t)(end - text));
				*out = t;
				return;
			}
			s = lex_bad_character(lx, p);
			break;
		case BAD: default: s = lex_bad_character(lx, p); break;
		}
		put(&t, (uint8_t)s.kind | newline, (uint32_t)(p - text), (uint32_t)(s.end - text));
		newline = 0;
		p = s.end;
	}
}

bool lex(const struct source *src, struct tokens *out, struct diags *d)
{
	struct lexer lx = {.src = src, .diags = d, .text = src->text, .end = src->text + src->len};
	struct keywords k;
	build_keywords(&k);
	*out = (struct tokens){.src = src, .lines = count_lines(lx.text, lx.end)};
	reserve(out, src->len / 3 + 16);
	scan(&lx, out, &k);
	return !lx.failed;
}
