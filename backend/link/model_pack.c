/* Computes and packs weights, part by part. A piece is evaluated only if a missing blob depends on it, and once. */
#include <stdlib.h>
#include "backend/interp/interp.h"
#include "backend/link/layout_weights.h"
#include "backend/link/model.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "frontend/hir/hir.h"

struct packer {
	const struct model_input *in;
	const struct weight_host *host;
	struct pack_buffer *buffer;
	struct arena *part; /* results that are read by other pieces of the part */
	struct arena *out;
	const char **error;
};

static bool fail(struct packer *p, const char *unit, const char *what)
{
	*p->error = arena_printf(p->out, "%s: %s", unit, what);
	return false;
}

static bool evaluate(struct packer *p, struct evaluation *e, uint32_t piece);

/* Stores the value with its elements. A parameter that is not in memory is loaded into `scratch`. */
static bool value_tensor(struct packer *p, const struct value *v, struct arena *scratch, struct tensor *out)
{
	if (v->param == VALUE_COMPUTED) {
		struct evaluation *e = v->maker;
		if (!e->outputs[v->output].data && !evaluate(p, e, e->plan->interface.outputs[v->output].piece))
			return false;
		*out = e->outputs[v->output];
		return true;
	}
	const char *error = "unknown error";
	*out = p->in->params[v->param];
	if (out->data || p->in->load(p->in->ctx, scratch, v->param, out, &error))
		return true;
	return fail(p, p->in->program->params[v->param].name, error);
}

static bool load_weights(struct packer *p, const struct evaluation *e, uint32_t piece, struct arena *scratch, struct tensor *weights)
{
	for (uint32_t i = 0, n = 0; i < e->plan->interface.n_weights; i++)
		if (e->plan->interface.piece_of[i] == piece && !value_tensor(p, &e->args[i], scratch, &weights[n++]))
			return false;
	return true;
}

static bool evaluate(struct packer *p, struct evaluation *e, uint32_t piece)
{
	const struct build_fn_interface *interface = &e->plan->interface;
	struct arena *scratch = arena_new(0);
	struct tensor *weights = ARENA_ARRAY(scratch, struct tensor, interface->n_weights + 1);
	struct tensor *results = ARENA_ARRAY(scratch, struct tensor, interface->n_outputs + 1);
	const struct ir_fn *f = build_fn_piece(scratch, p->in->build_fn(p->in->ctx, e->plan), interface, piece);
	int64_t *syms = ARENA_ARRAY(scratch, int64_t, dims_syms(f->dims) + 1); /* zero: no build-time value depends on them */
	const char *error = "failed";
	bool ok = load_weights(p, e, piece, scratch, weights);
	if (ok && !interp_run(f, NULL, weights, syms, 0, p->part, results, &error))
		ok = fail(p, e->plan->unit->name, error);
	for (uint32_t o = 0, n = 0; ok && o < interface->n_outputs; o++)
		if (interface->outputs[o].piece == piece)
			e->outputs[o] = results[n++];
	arena_free(scratch);
	return ok;
}

/* A blob may be of any size, and fresh memory costs more than packing: the buffer stays. */
static void buffer_reserve(struct pack_buffer *b, size_t size)
{
	if (b->at && size <= b->size)
		return;
	free(b->at);
	b->size = size;
	b->at = huge_alloc(size);
	BUG_ON(!b->at);
}

void pack_buffer_free(struct pack_buffer *b)
{
	free(b->at);
	*b = (struct pack_buffer){0};
}

static bool pack(struct packer *p, const struct blob_source *s, struct model_blob *b)
{
	struct arena *scratch = arena_new(0);
	struct tensor t;
	bool ok = value_tensor(p, &s->value, scratch, &t);
	const char *error = "unknown error";
	const void *bytes = ok ? t.data : NULL;
	if (ok && s->layout != LAYOUT_PLAIN) {
		buffer_reserve(p->buffer, b->len);
		layout_pack(s->layout, &t, p->buffer->at);
		bytes = p->buffer->at;
	}
	if (ok && !p->host->write(p->host->ctx, b, 0, bytes, b->len, &error))
		ok = fail(p, b->unit->name, error);
	arena_free(scratch);
	return ok;
}

bool model_pack_weights(struct arena *a, const struct model_input *in, struct model_weights *w, uint32_t part, struct pack_buffer *buffer,
			const struct weight_host *host, const char **error)
{
	struct packer p = {in, host, buffer, arena_new(0), a, error};
	bool ok = true;
	for (uint32_t i = 0; i < w->n_blobs && ok; i++)
		if (w->blobs[i].part == part && !host->find(host->ctx, &w->blobs[i]))
			ok = pack(&p, &w->sources[i], &w->blobs[i]);
	arena_free(p.part);
	return ok;
}
