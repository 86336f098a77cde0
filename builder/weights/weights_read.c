/* Computes, converts and reads parameters that are too large to be bound. */
#include <string.h>
#include "backend/buildtime/stream.h"
#include "base/arena.h"
#include "builder/weights/weights_file.h"
#include "frontend/hir/hir.h"

uint64_t weights_seed(const struct hir_param *p) { return hash64_bytes(p->name, strlen(p->name)); }

/* A large initial value is computed in parts, so that it is in memory once. */
static bool load_initial(struct arena *a, const struct hir_param *p, struct weights_host host, struct tensor *out, const char **error)
{
	struct stream_elements *parts = host.init_parts ? host.init_parts(host.ctx, a, p, weights_seed(p)) : NULL;
	if (!parts)
		return host.init(host.ctx, a, p, weights_seed(p), out, error);
	out->data = arena_alloc(a, (size_t)tensor_bytes(out) + 1, 64);
	stream_read_elements(parts, 0, tensor_count(out), out->data);
	return true;
}

bool weights_load(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host, uint32_t i,
		  struct tensor *out, const char **error)
{
	const struct file_tensor *s = weights_find(w, &p->params[i]);
	size_t bad, n = (size_t)tensor_count(out);
	double value;
	if (s) {
		out->data = arena_alloc(a, n * dtype_size(out->elem), 64);
		return tensor_read(s, 0, n, out->elem, out->data, &bad, &value);
	}
	return load_initial(a, &p->params[i], host, out, error);
}

struct weights_reader {
	const struct file_tensor *tensor; /* NULL: `initial` */
	struct stream_elements *initial;
	dtype elem;
};

struct weights_reader *weights_open_param(struct arena *a, const struct weights *w, const struct hir_program *p, struct weights_host host,
					  uint32_t i, dtype elem)
{
	const struct hir_param *m = &p->params[i];
	struct weights_reader *r = ARENA_NEW(a, struct weights_reader);
	r->elem = elem;
	r->tensor = weights_find(w, m);
	if (!r->tensor)
		r->initial = host.init_parts(host.ctx, a, m, weights_seed(m));
	return r->tensor || r->initial ? r : NULL;
}

bool weights_read(struct weights_reader *r, int64_t first, int64_t n, void *out, const char **error)
{
	double value;
	size_t bad;
	if (!r->tensor)
		stream_read_elements(r->initial, first, n, out);
	else if (!tensor_read(r->tensor, first, (size_t)n, r->elem, out, &bad, &value))
		*error = "its elements cannot be converted";
	else
		return true;
	return !r->tensor;
}
