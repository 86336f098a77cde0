/* A table of statements as bytes: their number; for each its name with a NUL, and its values. Numbers are varints. */
#include "backend/loops/statements.h"
#include <string.h>
#include "backend/loops/loops.h"
#include "backend/target/kernel.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"

static const char *name_of(const struct loop_stmt *s)
{
	switch (s->kind) {
	case STMT_NEST: return "loop";
	case STMT_KERNEL: return kernel_info(s->u.kernel.kernel)->symbol;
	case STMT_CALL: return s->u.call.callee;
	case STMT_BRANCH: return "if";
	case STMT_LOOP: return "while";
	case STMT_EFFECT: return s->u.effect.where ? "assert" : "print";
	}
	return "";
}

void statements_write(const struct loop_fn *f, struct buf *out)
{
	varint_put(out, f->n_stmts);
	for (uint32_t i = 0; i < f->n_stmts; i++) {
		const struct loop_stmt *s = &f->stmts[i];
		const char *name = name_of(s);
		buf_put(out, name, strlen(name) + 1);
		varint_put(out, s->n_values);
		for (uint32_t k = 0; k < s->n_values; k++)
			varint_put(out, s->values[k]);
	}
}

static void read_one(struct arena *a, struct varint_in *in, struct statement *s)
{
	const void *end = in->ok ? memchr(in->at, 0, (size_t)(in->end - in->at)) : NULL;
	in->ok = end != NULL;
	s->name = in->ok ? varint_take_bytes(in, (size_t)((const unsigned char *)end - in->at) + 1) : "";
	s->n_values = varint_take_count(in);
	uint32_t *values = ARENA_ARRAY(a, uint32_t, s->n_values + 1);
	for (uint32_t k = 0; k < s->n_values; k++)
		values[k] = varint_take_upto(in, UINT32_MAX);
	s->values = values;
}

bool statements_read(struct arena *a, const void *bytes, size_t *len, struct statement **list, uint32_t *n)
{
	struct varint_in in = {bytes, (const unsigned char *)bytes + *len, true};
	*n = varint_take_count(&in);
	*list = ARENA_ARRAY(a, struct statement, *n + 1);
	for (uint32_t i = 0; i < *n && in.ok; i++)
		read_one(a, &in, &(*list)[i]);
	*len = (size_t)(in.at - (const unsigned char *)bytes);
	return in.ok;
}
