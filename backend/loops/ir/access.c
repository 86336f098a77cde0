/* An access in the text: "b0[64*i0 + (N*2)*i1 + 4*%3 below (N) + (N + 1)] prefetch 1". The offset is the sum of the loop variables, of the index and,
 * last, of the base. Dims are in brackets, so that no name of a symbol can be confused with a loop. */
#include "backend/loops/ir/codec.h"
#include <string.h>
#include "base/buf.h"

static bool access_is_value(const struct codec *c, dim x, int64_t want)
{
	int64_t v;
	return dim_is_const(c->f->dims, x, &v) && v == want;
}

/* A constant as it is, other dims in brackets. */
static void code_factor(struct codec *c, dim *x)
{
	int64_t v;
	bool brackets = c->mode == CODEC_READ ? ir_read_eat(&c->text, "(") : !dim_is_const(c->f->dims, *x, &v);
	if (brackets && c->mode == CODEC_PRINT)
		buf_putc(c->out, '(');
	if (!brackets && c->mode == CODEC_READ)
		*x = dim_const(c->dims, ir_read_int(&c->text));
	else
		code_dim(c, x);
	if (brackets)
		code_mark(c, ")");
}

static void print_term(struct codec *c, dim factor, bool first)
{
	buf_puts(c->out, first ? "" : " + ");
	if (access_is_value(c, factor, 1))
		return;
	code_factor(c, &factor);
	buf_putc(c->out, '*');
}

static void print_offset(struct codec *c, struct loop_access *x, uint32_t loops)
{
	bool first = true;
	for (uint32_t k = 0; k < loops; k++) {
		if (access_is_value(c, x->stride[k], 0))
			continue;
		print_term(c, x->stride[k], first);
		buf_printf(c->out, "i%u", k);
		first = false;
	}
	if (x->index != LOOP_NONE) {
		print_term(c, x->scale, first);
		buf_printf(c->out, "%%%u", x->index);
		first = false;
	}
	if (!first && access_is_value(c, x->base, 0))
		return;
	buf_puts(c->out, first ? "" : " + ");
	code_factor(c, &x->base);
}

/* A term after its factor. Returns false if there is none: the factor is the base. */
static bool read_variable(struct codec *c, struct loop_access *x, uint32_t loops, dim factor)
{
	uint32_t loop = 0;
	if (code_next(c, &(struct codec_list){0}, "i#")) {
		code_reference(c, "i", &loop, loops);
		x->stride[loop < loops ? loop : 0] = factor;
		return true;
	}
	if (!code_next(c, &(struct codec_list){0}, "%#"))
		return false;
	code_need(c, x->index == LOOP_NONE, "one index expected");
	x->scale = factor;
	code_reference(c, "%", &x->index, LOOP_NONE);
	return true;
}

static void read_offset(struct codec *c, struct loop_access *x, uint32_t loops)
{
	do {
		dim factor = dim_const(c->dims, 1);
		if (read_variable(c, x, loops, factor))
			continue;
		code_factor(c, &factor);
		if (!ir_read_eat(&c->text, "*")) {
			x->base = factor;
			return;
		}
		code_need(c, read_variable(c, x, loops, factor), "a loop or an index expected");
	} while (!c->text.failed && ir_read_eat(&c->text, "+"));
}

static void code_offset(struct codec *c, struct loop_access *x, uint32_t loops)
{
	code_dim(c, &x->base);
	for (uint32_t k = 0; k < loops; k++)
		code_dim(c, &x->stride[k]);
	if (!code_option(c, "", x->index != LOOP_NONE))
		return;
	code_reference(c, "%", &x->index, LOOP_NONE);
	code_dim(c, &x->scale);
}

void code_access(struct codec *c, struct loop_access *x, uint32_t loops)
{
	if (codec_reads(c)) {
		dim zero = dim_const(c->dims, 0);
		*x = (struct loop_access){.base = zero, .scale = zero, .index = LOOP_NONE};
		for (uint32_t k = 0; k < LOOP_MAX; k++)
			x->stride[k] = zero;
	}
	code_reference(c, "b", &x->buffer, c->f->n_buffers);
	code_mark(c, "[");
	if (c->mode == CODEC_PRINT)
		print_offset(c, x, loops);
	else if (c->mode == CODEC_READ)
		read_offset(c, x, loops);
	else
		code_offset(c, x, loops);
	code_mark(c, "]");
	if (code_option(c, " prefetch ", x->prefetch))
		code_number(c, &x->prefetch, LOOP_MOST_PREFETCH);
	code_flag(c, " streamed", &x->streamed);
}
