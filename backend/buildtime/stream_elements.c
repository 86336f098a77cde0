/* Elements of one value: the function runs in blocks, and no value is ever in memory as a whole. */
#include <string.h>
#include "backend/buildtime/stream.h"
#include "backend/buildtime/stream_state.h"
#include "base/arena.h"

struct stream_elements {
	struct stream *s;
	void **blocks;
	ir_ref output;
};

struct stream_elements *stream_plan_elements(struct arena *a, const struct ir_fn *f, uint64_t seed)
{
	struct stream *s = f->n_outputs == 1 && f->n_weights == 0 ? stream_plan(a, f) : NULL;
	if (!s || s->n_passes != 1 || s->rows != 1 || s->values[f->outputs[0]].extent != FULL ||
	    ir_at(f, f->outputs[0])->op == OP_TRANSPOSE)
		return NULL;
	struct stream_elements *e = ARENA_NEW(a, struct stream_elements);
	*e = (struct stream_elements){s, ARENA_ARRAY(a, void *, f->n_insts + 1), f->outputs[0]};
	s->seed = seed;
	stream_compute_small_values(s, 0);
	for (ir_ref r = 0; r < f->n_insts; r++) {
		struct stream_value *v = &s->values[r];
		v->is_needed = v->extent == FULL;
		if (v->is_needed)
			e->blocks[r] = arena_alloc(a, STREAM_BLOCK * dtype_size(v->type.elem), 64);
	}
	return e;
}

dtype stream_element_type(const struct stream_elements *e) { return e->s->values[e->output].type.elem; }
int64_t stream_element_count(const struct stream_elements *e) { return tensor_count(&e->s->values[e->output].type); }

void stream_read_elements(struct stream_elements *e, int64_t first, int64_t n, void *out)
{
	const struct stream_value *v = &e->s->values[e->output];
	size_t size = dtype_size(v->type.elem);
	for (int64_t done = 0; done < n; done += STREAM_BLOCK) {
		int64_t some = n - done < STREAM_BLOCK ? n - done : STREAM_BLOCK;
		stream_run_block(e->s, e->blocks, 0, first + done, some);
		memcpy((char *)out + (size_t)done * size, v->data, (size_t)some * size);
	}
}
