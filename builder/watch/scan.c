#include "builder/watch/scan.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"
#include "builder/build/build_steps.h"

struct scan {
	struct arena *a;
	VEC(struct input) inputs;
	VEC(const struct input *) changed;
	hash128 places; /* digest of kinds and paths */
};

struct scan *scan_new(void)
{
	struct scan *s = calloc(1, sizeof *s);
	if (!s)
		bug_no_memory();
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	arena_free(s->a);
	vec_free(&s->inputs);
	vec_free(&s->changed);
	free(s);
}

static void add(struct scan *s, struct hasher *h, const struct input *i)
{
	struct input copy = *i;
	copy.path = arena_strdup(s->a, i->path);
	hasher_add_u64(h, i->kind);
	hasher_add_str(h, i->path);
	vec_push(&s->inputs, copy);
}

/* A build that found its outputs up to date read less than what they depend on: the record has the rest. */
static bool relied_on_record(const struct build *b) { return b->last.record && b->context.done && !b->result.published; }

bool scan_take(struct scan *s, const struct build *b)
{
	struct hasher *h = hasher_new();
	hash128 before = s->places;
	arena_free(s->a);
	s->a = arena_new(0);
	s->inputs.len = s->changed.len = 0;
	for (uint32_t i = 0; i < inputs_count(b->context.inputs); i++)
		add(s, h, inputs_at(b->context.inputs, i));
	for (uint32_t i = 0; relied_on_record(b) && i < b->last.record->n_inputs; i++)
		if (!inputs_find(b->context.inputs, b->last.record->inputs[i].kind, b->last.record->inputs[i].path))
			add(s, h, &b->last.record->inputs[i]);
	s->places = hasher_finish(h);
	return !hash_eq(before, s->places);
}

const struct input *scan_inputs(const struct scan *s, uint32_t *n)
{
	*n = s->inputs.len;
	return s->inputs.at;
}

const struct input *const *scan_changed(struct scan *s, uint32_t *n)
{
	bool touched;
	arena_mark_t m = arena_mark(s->a);
	s->changed.len = 0;
	for (uint32_t i = 0; i < s->inputs.len; i++)
		if (!input_verify(s->a, &s->inputs.at[i], &touched))
			vec_push(&s->changed, &s->inputs.at[i]);
	arena_release(s->a, m);
	*n = s->changed.len;
	return s->changed.at;
}

bool scan_outdated(const struct inputs *read)
{
	struct arena *scratch = arena_new(0);
	bool touched, outdated = false;
	for (uint32_t i = 0; i < inputs_count(read) && !outdated; i++) {
		struct input copy = *inputs_at(read, i);
		outdated = !input_verify(scratch, &copy, &touched);
	}
	arena_free(scratch);
	return outdated;
}
