/* Fragments of OpenCL libraries: the serialized loops of each variant, each behind its length. */
#include <string.h>
#include "backend/loops/ir/serialize.h"
#include "backend/text/signature.h"
#include "base/arena.h"
#include "base/buf.h"
#include "gpu/opencl.h"

bool opencl_emit_fragment(const struct emit_request *r, struct buf *fragment, struct buf *error)
{
	(void)error;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		struct buf loops = {0};
		loops_serialize(v == TRI_CL_WIDE ? r->plan->also : r->plan->loops, &loops);
		buf_u64(fragment, loops.len);
		buf_put(fragment, loops.at, loops.len);
		buf_free(&loops);
	}
	return true;
}

static bool read_fragment(struct arena *a, const struct backend_fragment *f, const struct opencl_units *out, uint32_t unit,
			  const char **error)
{
	const char *at = f->bytes;
	size_t left = f->len;
	uint32_t first = 0;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		uint64_t len = 0;
		if (left >= sizeof len)
			memcpy(&len, at, sizeof len);
		*error = "its loop IR is incomplete";
		if (left < sizeof len || len > left - sizeof len)
			return false;
		struct loop_fn *loops = loops_deserialize(a, at + sizeof len, len, error);
		if (!loops)
			return false;
		loops->first_statement = first;
		first = loops_next_statement(loops);
		out->of[v][unit] = loops;
		at += sizeof len + len;
		left -= sizeof len + len;
	}
	return true;
}

/* A device may have 64 KiB for the constants of a program, of which a part is for arguments of kernels. */
enum { MOST_CONSTANTS = 56 << 10 };

void opencl_fit_constants(struct arena *a, enum tri_cl_variant variant, const struct loop_fn **units, uint32_t n)
{
	int64_t all = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t own = 0;
		for (uint32_t k = 0; units[i] && k < units[i]->n_buffers; k++)
			own += text_is_baked(opencl_dialect(variant), units[i], k) ? text_buffer_bytes(units[i], k) : 0;
		if (all + own > MOST_CONSTANTS) {
			struct loop_fn *without = ARENA_NEW(a, struct loop_fn);
			*without = *units[i];
			without->constants_outside = true;
			units[i] = without;
		} else {
			all += own;
		}
	}
}

bool opencl_read_fragments(const struct backend_model *m, struct opencl_units *out, const char **error)
{
	uint32_t n = m->in->program->n_units;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++)
		out->of[v] = ARENA_ARRAY(m->arena, const struct loop_fn *, n + 1);
	for (uint32_t i = 0; i < n; i++)
		if (m->fragments[i].bytes && !read_fragment(m->arena, &m->fragments[i], out, i, error))
			return false;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++)
		opencl_fit_constants(m->arena, v, out->of[v], n);
	return true;
}
