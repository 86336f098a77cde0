#include "builder/build/session/context.h"
#include "builder/build/started_build.h"
#include "builder/store/inputs.h"
#include "builder/watch/watch_state.h"
#include "base/arena.h"

void tracked_inputs_free(struct tracked_inputs *s)
{
	arena_free(s->a);
	vec_free(&s->inputs);
	vec_free(&s->changed);
}

static void tracked_inputs_add(struct tracked_inputs *s, struct hasher *h, const struct input *i)
{
	struct input copy = *i;
	copy.path = arena_strdup(s->a, i->path);
	hasher_add_u64(h, i->kind);
	hasher_add_str(h, i->path);
	vec_push(&s->inputs, copy);
}

/* A build that found its outputs up to date has not read all inputs. The build record has the others. */
static bool used_build_record(const struct build *b) { return b->last.record && b->context.outcome.done && !b->result.published; }

bool tracked_inputs_replace(struct tracked_inputs *s, const struct build *b)
{
	struct hasher *h = hasher_new();
	hash128 before = s->digest;
	arena_free(s->a);
	s->a = arena_new(0);
	s->disk = b->context.disk;
	s->inputs.len = s->changed.len = 0;
	for (uint32_t i = 0; i < inputs_count(b->context.inputs); i++)
		tracked_inputs_add(s, h, inputs_at(b->context.inputs, i));
	for (uint32_t i = 0; used_build_record(b) && i < b->last.record->n_inputs; i++)
		if (!inputs_find(b->context.inputs, b->last.record->inputs[i].kind, b->last.record->inputs[i].path))
			tracked_inputs_add(s, h, &b->last.record->inputs[i]);
	s->digest = hasher_finish(h);
	return !hash_eq(before, s->digest);
}

const struct input *tracked_inputs_all(const struct tracked_inputs *s, uint32_t *n)
{
	*n = s->inputs.len;
	return s->inputs.at;
}

const struct input *const *tracked_inputs_changed(struct tracked_inputs *s, uint32_t *n)
{
	bool touched;
	arena_mark_t m = arena_mark(s->a);
	s->changed.len = 0;
	for (uint32_t i = 0; i < s->inputs.len; i++)
		if (!input_verify(s->disk, s->a, &s->inputs.at[i], &touched))
			vec_push(&s->changed, &s->inputs.at[i]);
	arena_release(s->a, m);
	*n = s->changed.len;
	return s->changed.at;
}

bool inputs_are_outdated(const struct inputs *read)
{
	struct arena *scratch = arena_new(0);
	bool touched, outdated = false;
	for (uint32_t i = 0; i < inputs_count(read) && !outdated; i++) {
		struct input copy = *inputs_at(read, i);
		outdated = !input_verify(inputs_disk(read), scratch, &copy, &touched);
	}
	arena_free(scratch);
	return outdated;
}
