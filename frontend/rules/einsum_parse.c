/* Parses the equation of an einsum. */
#include "base/buf.h"
#include "frontend/rules/einsum.h"
#include <ctype.h>
#include <string.h>

bool einsum_reject(struct einsum *s, uint32_t arg, enum diag_code code, const char *text)
{
	return rule_reject(s->e, s->c, code, s->c->ats[arg], "%s", text);
}

static uint8_t label_of(char ch) { return (uint8_t)(islower((unsigned char)ch) ? ch - 'a' : ch - 'A' + 26); }

/* Counts the letters of a subscript; *dots: it has an ellipsis. False: it is invalid (reported). */
static bool scan_subscript(struct einsum *s, const char *p, const char *end, uint32_t *letters, bool *dots)
{
	*letters = 0;
	*dots = false;
	for (; p < end; p++) {
		if (*p == ' ')
			continue;
		if (isalpha((unsigned char)*p)) {
			++*letters;
		} else if (end - p >= 3 && !strncmp(p, "...", 3) && !*dots) {
			*dots = true;
			p += 2;
		} else {
			return einsum_reject(s, 0, DIAG_ARG_VALUE,
					     "a subscript must consist of letters and at most one `...`, as in \"bij,bjk->bik\"");
		}
	}
	return true;
}

static bool read_term(struct einsum *s, const char *p, const char *end, uint32_t dots_rank, struct einsum_term *term)
{
	for (; p < end; p++) {
		uint32_t n = *p == '.' ? dots_rank : *p != ' ';
		if (term->n + n > HIR_MAX_RANK)
			return einsum_reject(s, 0, DIAG_RANK, "a tensor has at most 8 dimensions");
		if (isalpha((unsigned char)*p))
			term->label[term->n++] = label_of(*p);
		if (*p != '.')
			continue;
		for (uint32_t k = 0; k < dots_rank; k++) /* aligned at the last dimension */
			term->label[term->n++] = (uint8_t)(ELLIPSIS + HIR_MAX_RANK - dots_rank + k);
		p += 2;
	}
	return true;
}

static bool read_operand(struct einsum *s, const char *p, const char *end, uint32_t i)
{
	uint32_t letters;
	bool dots;
	s->in[i].r = s->c->v[1].u.seq->at[i].u.t;
	uint32_t rank = type_of(s->e, s->in[i].r)->rank;
	if (!scan_subscript(s, p, end, &letters, &dots))
		return false;
	if (letters > rank || (!dots && letters < rank))
		return rule_reject(s->e, s->c, DIAG_RANK, s->c->ats[0], "subscript %u names %u dimensions, but the operand is %s", i + 1,
				   letters, type_text(s->e, s->in[i].r));
	if (dots && rank - letters > s->ellipsis)
		s->ellipsis = rank - letters;
	return read_term(s, p, end, rank - letters, &s->in[i]);
}

/* Without `->` the output is the dimensions of `...`, then every letter that occurs once, in alphabetical order (capitals first). */
static bool implicit_output(struct einsum *s)
{
	uint32_t count[LABELS] = {0};
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->in[i].n; k++)
			count[s->in[i].label[k]]++;
	for (uint32_t k = 0; k < s->ellipsis; k++)
		s->out.label[s->out.n++] = (uint8_t)(LABELS - s->ellipsis + k);
	for (uint32_t k = 0; k < LETTERS; k++) {
		uint8_t label = (uint8_t)((k + 26) % LETTERS);
		if (count[label] != 1)
			continue;
		if (s->out.n == HIR_MAX_RANK)
			return einsum_reject(s, 0, DIAG_RANK, "the result has more than 8 dimensions; choose some of them with `->`");
		s->out.label[s->out.n++] = label;
	}
	return true;
}

static bool read_output(struct einsum *s, const char *p)
{
	uint32_t letters, seen[LABELS] = {0};
	bool dots;
	const char *end = p + strlen(p);
	if (!scan_subscript(s, p, end, &letters, &dots) || !read_term(s, p, end, s->ellipsis, &s->out))
		return false;
	for (uint32_t k = 0; k < s->out.n; k++) {
		if (!s->uses[s->out.label[k]])
			return einsum_reject(s, 0, DIAG_ARG_VALUE, "the result has a letter that no operand has");
		if (seen[s->out.label[k]]++)
			return einsum_reject(s, 0, DIAG_ARG_VALUE, "the result has a letter twice");
	}
	return true;
}

static bool reject_size(struct einsum *s, uint32_t i, uint8_t label, dim old, dim new)
{
	char name[2] = {(char)(label < 26 ? 'a' + label : 'A' + label - 26), 0};
	return rule_reject(s->e, s->c, DIAG_SHAPE, s->c->ats[1], "`%s` has size %s in an earlier operand, but %s in operand %u, %s",
			   label < LETTERS ? name : "...", dim_text(s->e, old), dim_text(s->e, new), i + 1, type_text(s->e, s->in[i].r));
}

/* The sizes of one label must be equal or 1. */
static bool join_sizes(struct einsum *s, uint32_t i)
{
	struct emitter *e = s->e;
	struct hir_type t = *type_of(e, s->in[i].r);
	for (uint32_t k = 0; k < t.rank; k++) {
		uint8_t label = s->in[i].label[k];
		struct hir_type have = {.rank = 1, .dims = {s->size[label]}}, more = {.rank = 1, .dims = {t.dims[k]}};
		if (!s->uses[label]++) {
			s->size[label] = t.dims[k];
		} else if (broadcast_dims(e, &have, &more)) {
			s->size[label] = have.dims[0];
		} else {
			return reject_size(s, i, label, s->size[label], t.dims[k]);
		}
	}
	return true;
}

bool einsum_parse(struct einsum *s)
{
	const char *p = s->text, *arrow = strstr(p, "->"), *end = arrow ? arrow : p + strlen(p);
	uint32_t n = 1;
	for (const char *q = p; q < end; q++)
		n += *q == ',';
	if (n != s->n)
		return rule_reject(s->e, s->c, DIAG_ARG_COUNT, s->c->at, "the equation has %u operand%s, but the call has %u", n,
				   n == 1 ? "" : "s", s->n);
	for (uint32_t i = 0; i < n; i++) {
		const char *stop = memchr(p, ',', (size_t)(end - p));
		stop = stop ? stop : end;
		if (!read_operand(s, p, stop, i) || !join_sizes(s, i))
			return false;
		p = stop + 1;
	}
	return arrow ? read_output(s, arrow + 2) : implicit_output(s);
}
