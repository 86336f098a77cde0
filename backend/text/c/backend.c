#include "backend/link/backend.h"
#include "backend/link/model/model.h"
#include "backend/loops/ir/serialize.h"
#include "backend/target/target.h"
#include "backend/text/c/model.h"
#include "backend/text/c/names.h"
#include "backend/text/c/parts.h"
#include "backend/text/c/unit.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

enum { WEIGHTS_INSIDE = 1 << 20 };

static const struct target *c_target(struct arena *a, const struct target *cpu, bool dense, const char **error)
{
	(void)a, (void)cpu, (void)dense, (void)error;
	return target_get(TARGET_C);
}

static void c_print(const struct plan *const *units, uint32_t n, const struct ir_notes *notes, struct buf *out)
{
	struct buf body = {0};
	(void)notes;
	for (uint32_t i = 0; i < n; i++)
		c_unit_declare(units[i]->loops, &body);
	for (uint32_t i = 0; i < n; i++)
		c_unit_put(units[i]->loops, &body);
	c_parts_put(body.at ? body.at : "", NULL, out);
	buf_put(out, body.at, body.len);
	buf_free(&body);
}

static bool c_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	uint32_t n = m->in->program->n_units;
	const struct loop_fn **units = ARENA_ARRAY(m->arena, const struct loop_fn *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct backend_fragment *f = &m->fragments[i];
		if (f->bytes && !(units[i] = loops_deserialize(m->arena, f->bytes, f->len, error)))
			return false;
	}
	c_model_put(m->in, m->info, m->weights, units, &out->files[0].text);
	c_header_put(m->in, m->info, m->weights, NULL, &out->files[1].text);
	return true;
}

const struct backend c_backend = {.name = "c",
				  .title = "C",
				  .stage = BACKEND_LOOPS,
				  .assemble = c_assemble,
				  .name_fault = c_name_fault,
				  .weights = BACKEND_WEIGHTS_BESIDE,
				  .most_inside = WEIGHTS_INSIDE,
				  .target = c_target,
				  .print = c_print};
