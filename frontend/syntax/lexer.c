/* The lexer's hot loop. It classifies 64 bytes at a time into bit masks (16 at once with SSE2): where tokens may begin, and where words
 * end. So no token waits for the end of the previous one. A perfect hash of a word's first eight bytes finds keywords. White space
 * leaves only a newline bit on the next token. lex_*.c handle rare and wrong text. */
#include "frontend/syntax/lexer.h"
#include <string.h>
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "base/measure.h"
#include "frontend/syntax/lex_state.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Classes of the slow path. Bytes that only the fast path sees (names, blanks, single punctuation) are OTHER. */
enum byte_class { BAD, OTHER, NEWLINE, DIGIT, OPERATOR, DOT, SLASH, HASH, QUOTE, LETTER_F };

static const uint8_t classes[256] = {
	['\n'] = NEWLINE, ['0'] = DIGIT,    ['1'] = DIGIT,    ['2'] = DIGIT,    ['3'] = DIGIT,    ['4'] = DIGIT,    ['5'] = DIGIT,
	['6'] = DIGIT,    ['7'] = DIGIT,    ['8'] = DIGIT,    ['9'] = DIGIT,    ['+'] = OPERATOR, ['-'] = OPERATOR, ['*'] = OPERATOR,
	['<'] = OPERATOR, ['>'] = OPERATOR, ['='] = OPERATOR, ['!'] = OPERATOR, ['&'] = OPERATOR, ['|'] = OPERATOR, ['@'] = OPERATOR,
	['.'] = DOT,      ['/'] = SLASH,    ['#'] = HASH,     ['"'] = QUOTE,    ['\''] = QUOTE,   ['{'] = OTHER,    ['}'] = OTHER,
	['f'] = LETTER_F, ['('] = OTHER,    [')'] = OTHER,    ['['] = OTHER,    [']'] = OTHER,    [','] = OTHER,    [';'] = OTHER,
	[':'] = OTHER,    ['?'] = OTHER,    ['%'] = OTHER,    ['^'] = OPERATOR, ['~'] = OPERATOR,
};

/* The kind of a token of this byte alone; 0: none. */
static const uint8_t singles[256] = {
	['('] = TOK_LPAREN,  [')'] = TOK_RPAREN, ['['] = TOK_LBRACKET,  [']'] = TOK_RBRACKET, ['{'] = TOK_LBRACE,
	['}'] = TOK_RBRACE,  [','] = TOK_COMMA,  [';'] = TOK_SEMICOLON, [':'] = TOK_COLON,    ['?'] = TOK_QUESTION,
	['%'] = TOK_PERCENT, ['+'] = TOK_PLUS,   ['-'] = TOK_MINUS,     ['*'] = TOK_STAR,     ['<'] = TOK_LT,
	['>'] = TOK_GT,      ['='] = TOK_ASSIGN, ['!'] = TOK_BANG,      ['@'] = TOK_AT,       ['.'] = TOK_DOT,
	['/'] = TOK_SLASH,   ['&'] = TOK_AMP,    ['|'] = TOK_PIPE,      ['^'] = TOK_CARET,    ['~'] = TOK_TILDE,
};
/* The kind of a byte followed by `=`. */
static const uint8_t with_equals[256] = {
	['+'] = TOK_PLUS_EQ, ['-'] = TOK_MINUS_EQ, ['*'] = TOK_STAR_EQ, ['<'] = TOK_LE,      ['>'] = TOK_GE,       ['='] = TOK_EQ,
	['!'] = TOK_NE,      ['@'] = TOK_AT_EQ,    ['&'] = TOK_AMP_EQ,  ['|'] = TOK_PIPE_EQ, ['^'] = TOK_CARET_EQ,
};

/* Two bytes need the slow path if first[] of one and second[] of the next share a bit: what the one may begin, the other may continue. */
enum { PAIR_OPERATOR = 1, PAIR_DOT = 2, PAIR_SLASH = 4, PAIR_FSTRING = 8, ALWAYS = 16 };
struct pairs {
	uint8_t first[256], second[256];
};

static void build_pairs(struct pairs *g)
{
	memset(g->second, ALWAYS, sizeof g->second);
	for (int c = 0; c < 256; c++) {
		bool fast = singles[c] || lex_is_word((char)c) || c == '\n';
		g->first[c] = !fast || lex_is_digit((char)c) ? ALWAYS : classes[c] == OPERATOR ? PAIR_OPERATOR : 0;
		g->second[c] |= lex_is_digit((char)c) || c == '.' ? PAIR_DOT : 0;
	}
	g->first['.'] = PAIR_DOT;
	g->first['/'] = PAIR_SLASH;
	g->first['f'] = PAIR_FSTRING;
	g->second['='] |= PAIR_OPERATOR | PAIR_SLASH;
	for (const char *c = "><&|"; *c; c++)
		g->second[(unsigned char)*c] |= PAIR_OPERATOR;
	g->second['*'] |= PAIR_OPERATOR | PAIR_SLASH;
	g->second['/'] |= PAIR_SLASH;
	g->second['"'] |= PAIR_FSTRING;
	g->second['\''] |= PAIR_FSTRING;
}

/* With this multiplier no two keywords share a slot, which add_keyword checks. */
#define KEYWORD_SLOTS 64
#define NO_KEYWORD 1 /* no name has these bytes */
#define KEYWORD_HASH(word) ((word) * 0xa17a4340f9c08fefull >> 58)

struct keywords {
	uint64_t words[KEYWORD_SLOTS];
	uint8_t kinds[KEYWORD_SLOTS];
};

static uint64_t lexer_word_of(const char *text, size_t n)
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
	uint64_t word = lexer_word_of(text, n), slot = KEYWORD_HASH(word);
	BUG_ON(k->words[slot] != NO_KEYWORD);
	k->words[slot] = word;
	k->kinds[slot] = (uint8_t)kind;
}

static void build_keywords(struct keywords *k)
{
	memset(k->kinds, 0, sizeof k->kinds);
	for (int i = 0; i < KEYWORD_SLOTS; i++)
		k->words[i] = NO_KEYWORD;
	for (int i = 0; i < TOK_COUNT; i++)
		if (token_class((enum token_kind)i) == TOKEN_KEYWORD)
			add_keyword(k, token_kind_text((enum token_kind)i), (enum token_kind)i);
	add_keyword(k, "None", TOK_NONE);
}

/* Finds the next `stop`, NUL or byte >= 0x80 from p on. */
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

/* p is after the opening mark. Sets *newline if the comment spans lines. */
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

static struct lexeme operator_at(struct lexer *lx, const char *p)
{
	unsigned char c = (unsigned char)*p;
	if (p[1] == '=' && with_equals[c])
		return (struct lexeme){(enum token_kind)with_equals[c], p + 2, NULL};
	if (c == '*' && p[1] == '*')
		return (struct lexeme){TOK_STAR2, p + 2, NULL};
	if (c == '-' && p[1] == '>')
		return (struct lexeme){TOK_ARROW, p + 2, NULL};
	if (c == '<' && p[1] == '<')
		return p[2] == '=' ? (struct lexeme){TOK_SHL_EQ, p + 3, NULL} : (struct lexeme){TOK_SHL, p + 2, NULL};
	if ((c == '&' || c == '|') && p[1] == *p)
		return (struct lexeme){c == '&' ? TOK_AND : TOK_OR, p + 2, NULL};
	return singles[c] ? (struct lexeme){(enum token_kind)singles[c], p + 1, NULL} : lex_bad_character(lx, p);
}

static struct lexeme dot_at(struct lexer *lx, const char *p)
{
	if (p[1] == '.') {
		if (p[2] == '.')
			return (struct lexeme){TOK_DOT3, p + 3, NULL};
		return p[2] == '=' ? (struct lexeme){TOK_DOT2_EQ, p + 3, NULL} : (struct lexeme){TOK_DOT2, p + 2, NULL};
	}
	return lex_is_digit(p[1]) ? lex_number(lx, p) : (struct lexeme){TOK_DOT, p + 1, NULL};
}

static inline struct lexeme lexer_number_at(struct lexer *lx, const char *p)
{
	const char *q = p + 1;
	while (lex_is_digit(*q))
		q++;
	if (lex_is_word(*q) || *q == '.' || (*p == '0' && q != p + 1))
		return lex_number(lx, p);
	return (struct lexeme){TOK_INT, q, NULL};
}

static struct lexeme slash_at(struct lexer *lx, const char *p, const char *wide, uint8_t *newline)
{
	if (p[1] == '*')
		return (struct lexeme){LEX_NO_TOKEN, block_comment_end(lx, p + 2, wide, newline), NULL};
	struct lexeme comment;
	if (p[1] == '/' && lex_habit(lx, p, &comment))
		return comment;
	if (p[1] == '/')
		return (struct lexeme){TOK_SLASH2, p + 2, NULL};
	return p[1] == '=' ? (struct lexeme){TOK_SLASH_EQ, p + 2, NULL} : (struct lexeme){TOK_SLASH, p + 1, NULL};
}

/* Brackets count only in an interpolation of an f-string: its last `}` continues the text, and a `:` outside of brackets begins a format. */
static struct lexeme bracket_at(struct lexer *lx, const char *p)
{
	struct lexeme x = {(enum token_kind)singles[(unsigned char)*p], p + 1, NULL};
	if (!lx->n_fstr)
		return x;
	uint32_t *open = &lx->fstr[lx->n_fstr - 1].braces, *choices = &lx->fstr[lx->n_fstr - 1].choices;
	if (*p == '}' && !*open)
		return lex_fstring_more(lx, p);
	if (strchr("{[(", *p))
		++*open;
	else if (strchr("}])", *p))
		*open -= *open > 0;
	else if (*p == '?')
		*choices += !*open;
	else if (*p == ':' && !*open && !*choices)
		return lex_fstring_spec(lx, p);
	else if (*p == ':' && !*open)
		--*choices;
	return x;
}

static const char *word_end(const char *p)
{
	while (lex_is_word(*p))
		p++;
	return p;
}

static enum token_kind word_kind(const struct keywords *k, const char *p, size_t n)
{
	uint64_t w = n <= 8 ? lexer_word_of(p, n) : NO_KEYWORD - 1, slot = KEYWORD_HASH(w);
	return k->words[slot] == w ? (enum token_kind)k->kinds[slot] : TOK_NAME;
}

/* Scans any token except a newline. */
static struct lexeme slow(struct lexer *lx, const struct keywords *k, const char *p, const char *wide, uint8_t *newline)
{
	switch ((enum byte_class)classes[(unsigned char)*p]) {
	case DIGIT: return lexer_number_at(lx, p);
	case OPERATOR: return operator_at(lx, p);
	case DOT: return dot_at(lx, p);
	case SLASH: return slash_at(lx, p, wide, newline);
	case HASH: return (struct lexeme){LEX_NO_TOKEN, line_comment_end(lx, p + 1, wide), NULL};
	case QUOTE: return lex_string(lx, p);
	case OTHER: return bracket_at(lx, p);
	case LETTER_F:
		if (p[1] == '"' || p[1] == '\'')
			return lex_fstring(lx, p);
		break;
	case NEWLINE:
	case BAD: break;
	}
	if (!lex_is_word(*p))
		return lex_bad_character(lx, p);
	const char *end = word_end(p);
	return (struct lexeme){word_kind(k, p, (size_t)(end - p)), end, NULL};
}

/* One bit for each of 64 bytes. */
struct block {
	uint64_t words;  /* bytes of names and numbers */
	uint64_t events; /* where a token or newline may begin: first bytes of words, and bytes that are neither word nor blank */
};

#if defined(__SSE2__)
static inline void classify16(const char *p, unsigned shift, uint64_t *words, uint64_t *blanks)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p), zero = _mm_setzero_si128();
	__m128i letter = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i is_letter = _mm_cmpeq_epi8(_mm_subs_epu8(letter, _mm_set1_epi8(25)), zero);
	__m128i is_digit = _mm_cmpeq_epi8(_mm_subs_epu8(digit, _mm_set1_epi8(9)), zero);
	__m128i is_word = _mm_or_si128(_mm_or_si128(is_letter, is_digit), _mm_cmpeq_epi8(v, _mm_set1_epi8('_')));
	__m128i is_tab = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
	__m128i is_blank = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), is_tab);
	*words |= (uint64_t)(unsigned)_mm_movemask_epi8(is_word) << shift;
	*blanks |= (uint64_t)(unsigned)_mm_movemask_epi8(is_blank) << shift;
}
#else
static inline void classify16(const char *p, unsigned shift, uint64_t *words, uint64_t *blanks)
{
	for (unsigned i = 0; i < 16; i++) {
		*words |= (uint64_t)lex_is_word(p[i]) << (shift + i);
		*blanks |= (uint64_t)(p[i] == ' ' || p[i] == '\t' || p[i] == '\r') << (shift + i);
	}
}
#endif

/* *in_word: 1 if the byte before the block belongs to a word; updated. */
static inline struct block classify(const char *p, uint64_t *in_word)
{
	uint64_t words = 0, blanks = 0;
	for (unsigned i = 0; i < 64; i += 16)
		classify16(p + i, i, &words, &blanks);
	struct block b = {words, (words & ~(words << 1 | *in_word)) | ~(words | blanks)};
	*in_word = words >> 63;
	return b;
}

/* The same for a block of which only the bytes before `end` may be read. */
static struct block classify_before(const char *p, const char *end, uint64_t *in_word)
{
	char padded[64];
	if (end - p >= 64)
		return classify(p, in_word);
	memset(padded, ' ', sizeof padded);
	if (p < end)
		memcpy(padded, p, (size_t)(end - p));
	return classify(padded, in_word);
}

/* The first n bytes of a word; 0: it is longer than any keyword. */
static inline uint64_t load_word(const char *p, unsigned n)
{
	static const uint64_t masks[10] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~0ull, 0};
	uint64_t w;
	memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w & masks[n < 9 ? n : 9];
}

static void *lexer_grow(void *at, uint32_t used, uint32_t cap, size_t size) { return huge_grow(at, used * size, cap * size); }

static void lexer_reserve(struct tokens *t, uint32_t cap)
{
	t->kinds = lexer_grow(t->kinds, t->len, cap, sizeof *t->kinds);
	t->starts = lexer_grow(t->starts, t->len, cap, sizeof *t->starts);
	t->ends = lexer_grow(t->ends, t->len, cap, sizeof *t->ends);
	t->cap = cap;
}

static inline void lexer_put(struct tokens *t, unsigned kind, size_t start, size_t end)
{
	t->kinds[t->len] = (uint8_t)kind;
	t->starts[t->len] = (uint32_t)start;
	t->ends[t->len++] = (uint32_t)end;
}

/* At a line end in an interpolation: puts an end for each open f-string, so that the parser finds them closed. */
static void cut_fstrings(struct lexer *lx, struct tokens *t, const char *p)
{
	for (uint32_t i = lx->n_fstr; i; i--)
		lexer_put(t, TOK_FSTR_TAIL, (size_t)(p - lx->text), (size_t)(p - lx->text));
	lex_fstring_cut(lx);
}

struct scan {
	struct lexer *lx;
	struct keywords keywords;
	struct pairs pairs;
	const char *wide;   /* the last position from which 16 bytes may be read */
	const char *resume; /* events before it are within a token */
	bool tail;          /* the last blocks, where 8 bytes may not be readable */
	uint8_t newline;    /* TOKEN_NEWLINE if a newline precedes the next token */
	bool careful;       /* all events take the slow path: in an interpolation of an f-string, or if 8 bytes may not be readable */
};

/* Handles one event in the slow path. */
static void scan_slow(struct scan *s, struct tokens *t, const char *p)
{
	struct lexer *lx = s->lx;
	if (*p == '\n') {
		if (lx->n_fstr)
			cut_fstrings(lx, t, p);
		s->careful = s->tail;
		s->newline = TOKEN_NEWLINE;
		return;
	}
	struct lexeme x = slow(lx, &s->keywords, p, s->wide, &s->newline);
	s->resume = x.resume ? x.resume : x.end;
	s->careful = s->tail || lx->n_fstr;
	if (x.kind == LEX_NO_TOKEN)
		return;
	lexer_put(t, (unsigned)x.kind | s->newline, (size_t)(p - lx->text), (size_t)(x.end - lx->text));
	s->newline = 0;
}

/* The events of one block. The fast path decides nothing by branches but whether it may be taken: names and keywords, single punctuation
 * and newlines all go the same way, a newline as a token that the next one overwrites. */
static void scan_block(struct scan *s, struct tokens *t, const char *base, struct block b, uint64_t next_words)
{
	uint8_t *kinds = t->kinds, newline = s->newline; /* locals, for the compiler to keep in registers */
	uint32_t *starts = t->starts, *ends = t->ends, len = t->len, at = (uint32_t)(base - s->lx->text);
	while (b.events) {
		unsigned i = (unsigned)__builtin_ctzll(b.events);
		unsigned char c = (unsigned char)base[i], next = (unsigned char)base[i + 1];
		b.events &= b.events - 1;
		uint64_t rest = ~(b.words >> i | next_words << 1 << (63 - i)); /* bytes that belong to no word, from here on */
		if ((s->pairs.first[c] & s->pairs.second[next]) | !rest | s->careful) {
			s->newline = newline;
			t->len = len;
			scan_slow(s, t, base + i);
			len = t->len;
			newline = s->newline;
			if (s->resume > base)
				b.events = s->resume >= base + 64 ? 0 : b.events & (~0ull << (s->resume - base));
			continue;
		}
		unsigned n = (unsigned)__builtin_ctzll(rest);
		uint64_t w = load_word(base + i, n), slot = KEYWORD_HASH(w);
		unsigned name = s->keywords.words[slot] == w ? s->keywords.kinds[slot] : TOK_NAME;
		bool is_newline = c == '\n';
		kinds[len] = (uint8_t)((n ? name : singles[c]) | newline);
		starts[len] = at + i;
		ends[len] = at + i + n + !n;
		len += !is_newline;
		newline = (uint8_t)(is_newline * TOKEN_NEWLINE);
	}
	s->newline = newline;
	t->len = len;
}

static void lexer_scan(struct scan *s, struct tokens *t)
{
	const char *text = s->lx->text, *end = s->lx->end;
	uint64_t in_word = 0;
	struct block next = classify_before(text, end, &in_word);
	for (const char *base = text; base < end; base += 64) {
		struct block b = next;
		next = classify_before(base + 64, end, &in_word);
		if (s->resume >= base + 64)
			continue;
		if (s->resume > base)
			b.events &= ~0ull << (s->resume - base);
		if (t->cap - t->len < 64 + LEX_FSTR_DEPTH + 1)
			lexer_reserve(t, t->cap + t->cap / 2);
		s->tail = end - base < 64 + 16;
		s->careful |= s->tail;
		scan_block(s, t, base, b, next.words);
	}
	if (s->lx->n_fstr)
		cut_fstrings(s->lx, t, end);
	lexer_put(t, TOK_EOF | (unsigned)s->newline, (size_t)(end - text), (size_t)(end - text));
}

#if defined(__SSE2__)
/* Newlines among n <= 255 times 16 bytes. */
static uint32_t newlines16(const char *p, size_t n)
{
	__m128i sums = _mm_setzero_si128();
	for (; n; n--, p += 16)
		sums = _mm_sub_epi8(sums, _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('\n')));
	sums = _mm_sad_epu8(sums, _mm_setzero_si128());
	return (uint32_t)(_mm_cvtsi128_si32(sums) + _mm_cvtsi128_si32(_mm_srli_si128(sums, 8)));
}
#endif

static uint32_t lexer_count_lines(const char *p, const char *end)
{
	uint32_t n = end > p && end[-1] != '\n';
#if defined(__SSE2__)
	for (size_t part; (part = (size_t)(end - p) / 16) > 0; p += part * 16) {
		part = part < 255 ? part : 255;
		n += newlines16(p, part);
	}
#endif
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

bool lex(const struct source *src, struct tokens *out, struct diags *d)
{
	struct lexer lx = {.src = src, .diags = d, .tokens = out, .text = src->text, .end = src->text + src->len};
	struct scan s = {.lx = &lx, .resume = lx.text, .newline = TOKEN_NEWLINE};
	bool bom = src->len >= 3 && memcmp(lx.text, "\xEF\xBB\xBF", 3) == 0;
	s.resume += bom ? 3 : 0;
	s.wide = src->len >= 16 ? lx.end - 16 : NULL;
	measure_begin("prepare");
	build_keywords(&s.keywords);
	build_pairs(&s.pairs);
	*out = (struct tokens){.src = src, .lines = lexer_count_lines(lx.text, lx.end)};
	lexer_reserve(out, src->len / 3 + 128);
	measure_end();
	measure_begin("scan");
	lexer_scan(&s, out);
	measure_end();
	return !lx.failed;
}
