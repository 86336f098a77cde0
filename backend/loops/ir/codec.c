#include "backend/loops/ir/codec.h"
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

enum { MAX_MARK = 32 };

void code_need(struct codec *c, bool sound, const char *what)
{
	if (sound || !codec_reads(c))
		return;
	if (c->mode == CODEC_READ)
		ir_read_fail(&c->text, what);
	c->bytes.ok = false;
}

static void codec_visit(struct codec *c, enum loop_field_kind kind, void *at, uint32_t most)
{
	c->visit(c->ctx, &(struct loop_field){kind, at, most});
}

/* ---- only in the text ---- */

/* The mark without the spaces around it. */
static const char *codec_trimmed(const char *mark, char out[MAX_MARK])
{
	size_t n;
	mark += strspn(mark, " ");
	for (n = strlen(mark); n && mark[n - 1] == ' ';)
		n--;
	memcpy(out, mark, n);
	out[n] = 0;
	return out;
}

void code_mark(struct codec *c, const char *text)
{
	char word[MAX_MARK];
	if (c->mode == CODEC_PRINT)
		buf_puts(c->out, text);
	else if (c->mode == CODEC_READ)
		ir_read_expect(&c->text, codec_trimmed(text, word));
}

void code_line(struct codec *c)
{
	if (c->mode == CODEC_PRINT)
		buf_printf(c->out, "\n%*s", (int)(2 * c->depth), "");
}

/* True if the text goes on with the sigil and a digit. */
static bool at_sigil(struct ir_reader *r, const char *sigil, size_t n)
{
	ir_read_space(r);
	return (size_t)(r->end - r->at) > n && !memcmp(r->at, sigil, n) && isdigit((unsigned char)r->at[n]);
}

static uint32_t read_reference(struct codec *c, const char *sigil)
{
	struct ir_reader *r = &c->text;
	if (at_sigil(r, sigil, strlen(sigil)))
		r->at += strlen(sigil);
	else
		ir_read_fail(r, arena_printf(c->unit, "a number after `%s` expected", sigil));
	return ir_read_u32(r, UINT32_MAX);
}

void code_own(struct codec *c, const char *sigil, uint32_t number)
{
	if (c->mode == CODEC_PRINT)
		buf_printf(c->out, "%s%u", sigil, number);
	else if (c->mode == CODEC_READ)
		code_need(c, read_reference(c, sigil) == number, "numbers in order expected");
}

/* ---- fields ---- */

void code_number(struct codec *c, uint32_t *x, uint32_t most)
{
	switch (c->mode) {
	case CODEC_PRINT: buf_printf(c->out, "%u", *x); return;
	case CODEC_READ: *x = ir_read_u32(&c->text, most); return;
	case CODEC_SERIALIZE: varint_put(c->out, *x); return;
	case CODEC_DESERIALIZE: *x = varint_take_upto(&c->bytes, most); return;
	case CODEC_VISIT: codec_visit(c, FIELD_NUMBER, x, most); return;
	}
}

void code_reference(struct codec *c, const char *sigil, uint32_t *x, uint32_t count)
{
	if (c->mode == CODEC_PRINT)
		buf_puts(c->out, sigil);
	if (c->mode == CODEC_READ)
		*x = read_reference(c, sigil);
	else
		code_number(c, x, UINT32_MAX);
	code_need(c, *x < count, "a smaller number expected");
}

void code_integer(struct codec *c, int64_t *x)
{
	switch (c->mode) {
	case CODEC_PRINT: buf_printf(c->out, "%lld", (long long)*x); return;
	case CODEC_READ: *x = ir_read_int(&c->text); return;
	case CODEC_SERIALIZE: varint_put_signed(c->out, *x); return;
	case CODEC_DESERIALIZE: *x = varint_take_signed(&c->bytes); return;
	case CODEC_VISIT: codec_visit(c, FIELD_INTEGER, x, 0); return;
	}
}

void code_real(struct codec *c, double *x)
{
	uint64_t bits;
	const void *from;
	memcpy(&bits, x, sizeof bits);
	switch (c->mode) {
	case CODEC_PRINT: ir_print_real(*x, "%.17g", c->out); return;
	case CODEC_READ: *x = ir_read_real(&c->text); return;
	case CODEC_SERIALIZE: buf_u64(c->out, bits); return;
	case CODEC_DESERIALIZE:
		if ((from = varint_take_bytes(&c->bytes, sizeof *x)))
			memcpy(x, from, sizeof *x);
		return;
	case CODEC_VISIT: codec_visit(c, FIELD_REAL, x, 0); return;
	}
}

void code_dim(struct codec *c, dim *x)
{
	switch (c->mode) {
	case CODEC_PRINT: dim_print(c->f->dims, *x, c->out); return;
	case CODEC_READ: *x = ir_read_dim(&c->text); return;
	case CODEC_SERIALIZE: varint_put(c->out, dims_writer_add(c->used, *x)); return;
	case CODEC_DESERIALIZE: x->idx = varint_take_upto(&c->bytes, dims_count(c->f->dims) - 1); return;
	case CODEC_VISIT: codec_visit(c, FIELD_DIM, x, 0); return;
	}
}

/* A text of n bytes, the last of which is a NUL, stays where it is. n = 0: NULL. */
static const char *codec_take_text(struct codec *c)
{
	uint32_t n = varint_take_count(&c->bytes);
	const char *text = n ? varint_take_bytes(&c->bytes, n) : NULL;
	code_need(c, !n || (text && memchr(text, 0, n) == text + n - 1), "");
	return c->bytes.ok ? text : NULL;
}

static void codec_put_text(struct codec *c, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;
	varint_put(c->out, n);
	buf_put(c->out, text, n);
}

void code_name(struct codec *c, const char **x)
{
	switch (c->mode) {
	case CODEC_PRINT: buf_puts(c->out, *x); break;
	case CODEC_READ: *x = ir_read_word(&c->text); break;
	case CODEC_SERIALIZE: codec_put_text(c, *x); break;
	case CODEC_DESERIALIZE: *x = codec_take_text(c); break;
	case CODEC_VISIT: break;
	}
	code_need(c, *x && ir_is_word(*x), "a name expected");
}

void code_text(struct codec *c, const char **x)
{
	switch (c->mode) {
	case CODEC_PRINT: ir_print_text(*x, c->out); break;
	case CODEC_READ: *x = ir_read_text(&c->text); break;
	case CODEC_SERIALIZE: codec_put_text(c, *x); break;
	case CODEC_DESERIALIZE: *x = codec_take_text(c); break;
	case CODEC_VISIT: break;
	}
	code_need(c, *x, "a text expected");
}

/* The bytes of the elements of a constant of type t. Returns false if its shape is not sound. */
static bool codec_const_bytes(const struct codec *c, const struct hir_type *t, size_t *bytes)
{
	int64_t v;
	*bytes = dtype_size(t->elem);
	for (uint32_t k = 0; k < t->rank; k++)
		if (!dim_is_const(c->f->dims, t->dims[k], &v) || v < 0 || __builtin_mul_overflow(*bytes, (size_t)v, bytes))
			return false;
	return true;
}

/* A copy, because elements are read as their type, which needs alignment. */
static const void *take_elements(struct codec *c, size_t n)
{
	const void *bytes = varint_take_bytes(&c->bytes, n);
	return bytes ? memcpy(arena_alloc(c->unit, n + 1, 16), bytes, n) : NULL;
}

void code_elements(struct codec *c, struct loop_buffer *x)
{
	size_t n;
	bool sound = codec_const_bytes(c, &x->type, &n);
	switch (c->mode) {
	case CODEC_PRINT:
		if (x->data && sound && n == x->data_bytes) /* the verifier reports an unsound one */
			ir_print_elements(c->f->dims, &x->type, x->data, c->out);
		return;
	case CODEC_READ: x->data = ir_read_elements(&c->text, &x->type); break;
	case CODEC_SERIALIZE: buf_put(c->out, x->data, x->data_bytes); return;
	case CODEC_DESERIALIZE: x->data = take_elements(c, sound ? n : 0); break;
	case CODEC_VISIT: return;
	}
	code_need(c, sound, "a constant shape expected");
	x->data_bytes = n;
}

bool code_option(struct codec *c, const char *mark, bool present)
{
	char word[MAX_MARK];
	switch (c->mode) {
	case CODEC_PRINT: buf_puts(c->out, present ? mark : ""); return present;
	case CODEC_READ: return ir_read_eat(&c->text, codec_trimmed(mark, word));
	case CODEC_SERIALIZE: varint_put(c->out, present); return present;
	case CODEC_DESERIALIZE: return varint_take_upto(&c->bytes, 1);
	default: return present;
	}
}

void code_flag(struct codec *c, const char *mark, bool *x)
{
	uint32_t v = *x;
	if (c->mode == CODEC_VISIT)
		codec_visit(c, FIELD_WORD, &v, 1);
	CODE_SET(*x, c->mode == CODEC_VISIT ? v : code_option(c, mark, *x));
}

uint32_t code_word(struct codec *c, uint32_t x, uint32_t count, codec_words *words)
{
	const char *word;
	switch (c->mode) {
	case CODEC_PRINT: buf_puts(c->out, words(x)); return x;
	case CODEC_READ:
		word = ir_read_word(&c->text);
		for (x = 0; x < count && strcmp(words(x), word) != 0;)
			x++;
		code_need(c, x < count, "another word expected");
		return x < count ? x : 0;
	case CODEC_VISIT: codec_visit(c, FIELD_WORD, &x, count - 1); return x;
	default: code_number(c, &x, count - 1); return x;
	}
}

/* ---- lists ---- */

struct codec_list code_list(struct codec *c, uint32_t n)
{
	struct codec_list l = {.n = n};
	if (c->mode == CODEC_SERIALIZE)
		varint_put(c->out, n);
	if (c->mode == CODEC_DESERIALIZE)
		l.n = varint_take_count(&c->bytes);
	if (c->mode == CODEC_VISIT)
		codec_visit(c, FIELD_COUNT, &l.n, n);
	return l;
}

/* True if the text goes on with one of the words of `starts`. */
static bool at_start(struct codec *c, const char *starts)
{
	char word[MAX_MARK];
	struct ir_reader *r = &c->text;
	while (*starts) {
		size_t n = strcspn(starts, " ");
		memcpy(word, starts, n);
		word[n] = 0;
		starts += n + strspn(starts + n, " ");
		if (n > 1 && word[n - 1] == '#') {
			if (at_sigil(r, word, n - 1))
				return true;
			continue;
		}
		const char *here = r->at;
		bool found = ir_read_eat(r, word);
		r->at = here;
		if (found)
			return true;
	}
	return false;
}

static bool has_next(struct codec *c, const struct codec_list *l) { return (!codec_reads(c) || c->bytes.ok) && l->at < l->n; }

bool code_next(struct codec *c, struct codec_list *l, const char *starts)
{
	bool more = c->mode == CODEC_READ ? !c->text.failed && at_start(c, starts) : has_next(c, l);
	l->at += more;
	return more;
}

bool code_next_comma(struct codec *c, struct codec_list *l, const char *close)
{
	bool more = has_next(c, l);
	if (c->mode == CODEC_PRINT)
		buf_puts(c->out, !more ? close : l->at ? ", " : "");
	if (c->mode == CODEC_READ) {
		more = !c->text.failed && (l->at ? ir_read_eat(&c->text, ",") : !ir_read_eat(&c->text, close));
		if (!more && l->at)
			ir_read_expect(&c->text, close);
	}
	l->at += more;
	return more;
}

void *code_room(struct codec *c, void *items, struct codec_list *l, size_t size)
{
	uint32_t need = c->mode == CODEC_READ ? l->at : l->n;
	char *room = arena_grow(c->unit, items, l->at - 1, &l->cap, need, size);
	memset(room + (l->at - 1) * size, 0, size);
	return room;
}
