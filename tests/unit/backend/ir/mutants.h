/* Runs mutants of a function: what the verifier accepts goes through text and back, and runs in the interpreter. */
#ifndef TRIB_TESTS_MUTANTS_H
#define TRIB_TESTS_MUTANTS_H
#include "tests/unit/unit.h"
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

struct mutants {
	const char *path;
	struct ir_fn *f;
	ir_ref r; /* the changed instruction */
	bool runs;
	uint32_t must, free, accepted, run;
};

static inline void mutant_note(const void *text, const struct ir_fn *f, ir_ref r, struct buf *out)
{
	if (r % 2 && f)
		buf_puts(out, text);
}

/* The text is read back without its comments. */
static inline void mutant_check_text(const struct ir_fn *f)
{
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	struct diags *d = diags_new(0);
	struct buf text = {0};
	ir_print_with_notes(f, &(struct ir_notes){mutant_note, "a.tri:1:2 add, a.tri:3:4 %9 = mul in b.tri:5:6 f"}, &text);
	const struct ir_fn *again = ir_read(a, sources_add(s, "again.ir", text.at, text.len), d);
	if (!again)
		fail_msg("%s\n%s", diags_at(d, 0)->message, text.at);
	assert_true(hash_eq(ir_hash(f), ir_hash(again)));
	buf_free(&text);
	diags_free(d);
	sources_free(s);
	arena_free(a);
}

enum { SIZE = 3, MOST_ELEMENTS = 4096 }; /* of the symbols; of a tensor */

static inline bool mutant_tensor(struct arena *a, const struct ir_fn *f, const struct hir_type *t, const int64_t *syms, struct tensor *out)
{
	*out = (struct tensor){.elem = t->elem, .rank = t->rank};
	int64_t n = 1;
	for (uint32_t k = 0; k < t->rank; k++) {
		out->dims[k] = dim_eval(f->dims, t->dims[k], syms);
		if (out->dims[k] < 0 || (out->dims[k] && n > MOST_ELEMENTS / out->dims[k]))
			return false;
		n *= out->dims[k];
	}
	out->data = arena_alloc(a, (size_t)tensor_bytes(out) + 1, 16);
	return true;
}

/* Runs f on zeros. Returns false if it is too large, or calls units that have no body. */
static inline bool mutant_run(const struct ir_fn *f)
{
	struct arena *a = arena_new(0);
	uint32_t n_syms = dims_syms(f->dims);
	int64_t *syms = ARENA_ARRAY(a, int64_t, n_syms + 1);
	struct tensor *in = ARENA_ARRAY(a, struct tensor, f->n_inputs + 1), *w = ARENA_ARRAY(a, struct tensor, f->n_weights + 1), any;
	bool ok = true;
	for (uint32_t k = 0; k < n_syms; k++)
		syms[k] = SIZE;
	for (uint32_t k = 0; ok && k < f->n_inputs; k++)
		ok = mutant_tensor(a, f, &f->inputs[k], syms, &in[k]);
	for (uint32_t k = 0; ok && k < f->n_weights; k++)
		ok = mutant_tensor(a, f, &f->weights[k], syms, &w[k]);
	for (ir_ref r = 0; ok && r < f->n_insts; r++)
		ok = !ir_calls(ir_at(f, r)->op) && mutant_tensor(a, f, ir_type_of(f, r), syms, &any);
	const char *error;
	if (ok)
		interp_run(f, in, w, syms, 1, a, ARENA_ARRAY(a, struct tensor, f->n_outputs + 1), &error);
	arena_free(a);
	return ok;
}

/* Verifies the function, which has another `field` now. must: it breaks a rule. */
static inline void try_mutant(struct mutants *m, bool must, const char *field)
{
	struct buf why = {0};
	bool ok = ir_verify(m->f, &why);
	buf_free(&why);
	if (must && ok)
		fail_msg("%s: accepted with another %s of %%%u (%s)", m->path, field, m->r, ir_op_text(ir_at(m->f, m->r)->op));
	m->must += must;
	m->free += !must;
	m->accepted += ok;
	if (!ok)
		return;
	mutant_check_text(m->f);
	m->run += m->runs && mutant_run(m->f);
}
#endif
