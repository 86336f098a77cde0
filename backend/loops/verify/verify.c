/* Checks the invariants of loop IR: what its printers and its interpreter rely on. */
#include "backend/loops/verify/verify_state.h"
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/repeat.h"
#include "base/buf.h"
#include "base/bug.h"

bool verify_fail(const struct verifier *v, const char *what, uint32_t at)
{
	buf_printf(v->why, "%s: ", v->f->symbol);
	if (v->stmt != LOOP_NONE)
		buf_printf(v->why, "statement %u: ", v->stmt);
	buf_printf(v->why, "%s (%u)\n", what, at);
	loops_print(v->f, v->why);
	return false;
}

bool verify_stmt(const struct verifier *v, const struct loop_stmt *s)
{
	switch (s->kind) {
#define STMT(id, word, member) \
	case STMT_##id: return verify_##member(v, &s->u.member);
#include "backend/loops/ir/stmts.def"
#undef STMT
	}
	return verify_fail(v, "unknown kind of statement", s->kind);
}

/* Statement k is beside others: each of them is independent of it, or a block that its groups may repeat. */
static bool verify_launch(const struct verifier *v, uint32_t k)
{
	const struct loop_fn *f = v->f;
	for (uint32_t i = k; i > 0 && f->stmts[i].beside; i--)
		if (!loops_may_repeat(f, i - 1, k) &&
		    (!loops_are_alike(&f->stmts[i - 1], &f->stmts[k]) || !loops_are_independent(f, &f->stmts[i - 1], &f->stmts[k])))
			return verify_fail(v, "a statement beside one that it cannot share a launch with", i - 1);
	return true;
}

bool loops_verify(const struct loop_fn *f, struct buf *why)
{
	struct verifier v = {.f = f, .why = why, .stmt = LOOP_NONE, .tile = DT_COUNT};
	if (!verify_buffers(&v))
		return false;
	for (v.stmt = 0; v.stmt < f->n_stmts; v.stmt++)
		if (!verify_stmt(&v, &f->stmts[v.stmt]))
			return false;
	if (f->n_stmts && f->stmts[0].beside)
		return verify_fail(&v, "the first statement is beside none", 0);
	for (v.stmt = 0; v.stmt < f->n_stmts; v.stmt++)
		if (!verify_launch(&v, v.stmt))
			return false;
	return verify_memory(&v);
}
