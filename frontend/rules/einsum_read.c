/* Reading the equation of an einsum. */
#include "base/buf.h"
#include "frontend/rules/einsum.h"
#include <ctype.h>
#include <string.h>

bool einsum_fails(struct einsum *s, uint32_t arg, enum diag_code code, const char *text)
{
	shape_error(s->e, s->c, code, s->c->ats[arg], "%s", text);
	return false;
}

static uint8_t label_of(char ch) { return (uint8_t)(islower((unsigned char)ch) ? ch - 'a' : ch - 'A' + 26); }

/* How many letters a subscript has; *dots: has it an ellipsis? False: it is not one. */
static bool measure(struct einsum *s, const char *p, const char *end, uint32_t *letters, bool *dots)
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
			return einsum_fails(s, 0, DIAG_ARG_VALUE,
					    "a subscript is made of letters and at most one `...`, as in \"bij,bjk->bik\"");
		}
	}
	return true;
}

static bool read_term(struct einsum *s, const char *p, const char *end, uint32_t dots_rank, struct term *t)
{
	for (; p < end; p++) {
		uint32_t n = *p == '.' ? dots_rank : *p != ' ';
		if (t->n + n > HIR_MAX_RANK)
			return einsum_fails(s, 0, DIAG_RANK, "a tensor has at most 8 dimensions");
		if (isalpha((unsigned char)*p))
			t->label[t->n++] = label_of(*p);
		if (*p != '.')
			continue;
		for (uint32_t k = 0; k < dots_rank; k++) /* aligned at the right */
			t->label[t->n++] = (uint8_t)(ELLIPSIS + HIR_MAX_RANK - dots_rank + k);
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
	if (!measure(s, p, end, &letters, &dots))
		return false;
	if (letters > rank || (!dots && letters < rank)) {
		shape_error(s->e, s->c, DIAG_RANK, s->c->ats[0], "subscript %u names %u dimensions, but the operand is %s", i + 1, letters,
			    type_text(s->e, s->in[i].r));
		return false;
	}
	if (dots && rank - letters > s->ellipsis)
		s->ellipsis = rank - letters;
	return read_term(s, p, end, rank - letters, &s->in[i]);
}

/* Without `->`: the dimensions of `...`, then every letter that occurs once, in alphabetical order (capitals first). */
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
			return einsum_fails(s, 0, DIAG_RANK, "the result has more than 8 dimensions; say with `->` which are meant");
		s->out.label[s->out.n++] = label;
	}
	return true;
}

static bool read_output(struct einsum *s, const char *p)
{
	uint32_t letters, seen[LABELS] = {0};
	bool dots;
	const char *end = p + strlen(p);
	if (!measure(s, p, end, &letters, &dots) || !read_term(s, p, end, s->ellipsis, &s->out))
		return false;
	for (uint32_t k = 0; k < s->out.n; k++) {
		if (!s->uses[s->out.label[k]])
			return einsum_fails(s, 0, DIAG_ARG_VALUE, "the result has a letter that no operand has");
		if (seen[s->out.label[k]]++)
			return einsum_fails(s, 0, DIAG_ARG_VALUE, "the result has a letter twice");
	}
	return true;
}

static bool size_differs(struct einsum *s, uint32_t i, uint8_t label, dim before, dim now)
{
	char name[2] = {(char)(label < 26 ? 'a' + label : 'A' + label - 26), 0};
	struct buf a = {0}, b = {0};
	dim_print(s->e->b->dims, before, &a);
	dim_print(s->e->b->dims, now, &b);
	shape_error(s->e, s->c, DIAG_SHAPE, s->c->ats[1], "`%s` is %s before, but %s in operand %u, %s", label < LETTERS ? name : "...",
		    a.at, b.at, i + 1, type_text(s->e, s->in[i].r));
	buf_free(&a);
	buf_free(&b);
	return false;
}

/* Sizes of one label agree, or are 1. */
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
			return size_differs(s, i, label, s->size[label], t.dims[k]);
		}
	}
	return true;
}

bool einsum_read(struct einsum *s)
{
	const char *p = s->text, *arrow = strstr(p, "->"), *end = arrow ? arrow : p + strlen(p);
	uint32_t n = 1;
	for (const char *q = p; q < end; q++)
		n += *q == ',';
	if (n != s->n) {
		shape_error(s->e, s->c, DIAG_ARG_COUNT, s->c->at, "the equation has %u operand%s, the call %u", n, n == 1 ? "" : "s", s->n);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *stop = memchr(p, ',', (size_t)(end - p));
		stop = stop ? stop : end;
		if (!read_operand(s, p, stop, i) || !join_sizes(s, i))
			return false;
		p = stop + 1;
	}
	return arrow ? read_output(s, arrow + 2) : implicit_output(s);
}
