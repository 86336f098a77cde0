/* The steps around each pass of a list. */
#include "backend/passes/pass.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/measure.h"

static const char *const fact_texts[] = {
#define FACT(id, text) text,
#include "backend/passes/facts.def"
#undef FACT
};

void pass_require(const struct pass_run *r, uint32_t needs, const char *who)
{
	char what[160];
	for (uint32_t k = 0; k < sizeof fact_texts / sizeof fact_texts[0]; k++) {
		if (!((needs & ~r->facts) >> k & 1))
			continue;
		snprintf(what, sizeof what, "%s runs before this holds: %s", who, fact_texts[k]);
		BUG(what);
	}
}

static bool is_last(const struct pass_run *r, const struct pass *p)
{
	return r->trace && r->trace->stop && !strcmp(r->trace->stop, p->text);
}

bool pass_begin(struct pass_run *r, const struct pass *p)
{
	if (!r->stopped && p->level > r->level)
		r->stopped = is_last(r, p);
	if (r->stopped || p->level > r->level)
		return false;
	pass_require(r, p->needs, p->text);
	if (r->trace && r->trace->figures) {
		r->began_bytes = arena_used(r->arena);
		r->began_ns = os_now_ns();
	}
	measure_begin(p->text);
	return true;
}

void pass_end(struct pass_run *r, const struct pass *p, uint32_t number, uint32_t changes)
{
	const struct pass_trace *t = r->trace;
	measure_end();
	r->facts |= p->makes;
	if (changes)
		r->facts &= ~p->breaks;
	if (!t)
		return;
	r->stopped = is_last(r, p);
	if (!t->figures)
		return;
	struct pass_figures *f = &t->figures[number];
	f->runs++;
	f->changes += changes;
	f->wall_ns += os_now_ns() - r->began_ns;
	f->bytes += arena_used(r->arena) - r->began_bytes;
}

static struct buf *titled(const struct pass_run *r, const char *before, const char *name)
{
	buf_printf(r->trace->text, "; %s%s\n", before, name);
	return r->trace->text;
}

static bool pass_is_wanted(const struct pass_run *r, const char *name)
{
	const struct pass_trace *t = r->trace;
	return t && t->text && (!t->only || !strcmp(t->only, name));
}

struct buf *pass_stage_text(const struct pass_run *r, const char *stage) { return pass_is_wanted(r, stage) ? titled(r, "", stage) : NULL; }

struct buf *pass_text(struct pass_run *r, const struct pass *p, uint32_t changes)
{
	if (!pass_is_wanted(r, p->text) || (!changes && (!r->trace->only || r->shown)))
		return NULL;
	r->shown = true;
	return titled(r, "after ", p->text);
}
