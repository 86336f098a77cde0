/* Computes and packs weights, part by part. A piece is evaluated only if a missing blob depends on it, and once. */
#include <stdlib.h>
#include "backend/buildtime/buildtime.h"
#include "backend/ir/ir.h"
#include "backend/link/model/layout_weights.h"
#include "backend/link/model/model.h"
#include "backend/link/model/quantized.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "base/measure.h"
#include "frontend/hir/hir.h"

enum { PART_ELEMENTS = 1 << 16 }; /* of a parameter that is packed part by part; it stays in the cache */

struct packer {
	const struct model_input *in;
	const struct weight_host *host;
	struct pack_buffer *buffer;
	struct arena *part; /* results that are read by other pieces of the part */
	struct arena *out;
	const char **error;
};

static bool model_pack_fail(struct packer *p, const char *unit, const char *what)
{
	*p->error = arena_printf(p->out, "%s: %s", unit, what);
	return false;
}

static bool model_pack_evaluate(struct packer *p, struct evaluation *e, uint32_t piece);

/* Stores the value with its elements. A parameter that is not in memory is loaded into `scratch`. */
static bool value_result(struct packer *p, const struct value *v, struct arena *scratch, struct stream_result *out)
{
	if (v->param == VALUE_COMPUTED) {
		struct evaluation *e = v->maker;
		if (!e->outputs[v->output].tensor.data && !model_pack_evaluate(p, e, e->plan->interface.outputs[v->output].piece))
			return false;
		*out = e->outputs[v->output];
		out->is_transposed ^= v->is_transposed;
		return true;
	}
	const char *error = "unknown error";
	*out = (struct stream_result){p->in->params[v->param], v->is_transposed};
	if (out->tensor.data || p->in->load(p->in->ctx, scratch, v->param, &out->tensor, &error))
		return true;
	return model_pack_fail(p, p->in->program->params[v->param].name, error);
}

/* The same, transposed in memory if need be. */
static bool model_pack_value_tensor(struct packer *p, const struct value *v, struct arena *scratch, struct tensor *out)
{
	struct stream_result r;
	if (!value_result(p, v, scratch, &r))
		return false;
	*out = r.is_transposed ? tensor_transposed(&r.tensor) : r.tensor;
	if (!r.is_transposed)
		return true;
	out->data = arena_alloc(scratch, (size_t)tensor_bytes(out) + 1, 64);
	layout_pack_transposed(LAYOUT_PLAIN, &r.tensor, out->data);
	return true;
}

/* The arguments that a piece reads, in its order; returns their number. */
static uint32_t list_args(const struct evaluation *e, uint32_t piece, const struct value **args)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->plan->interface.n_weights; i++)
		if (e->plan->interface.piece_of[i] == piece)
			args[n++] = &e->args[i];
	return n;
}

/* Opens a parameter that is not in memory. NULL: it cannot be read in parts. */
static void *model_pack_open_param(const struct packer *p, const struct value *v, struct arena *a)
{
	bool opens = v->param != VALUE_COMPUTED && p->in->open && !p->in->params[v->param].data;
	return opens ? p->in->open(p->in->ctx, a, v->param) : NULL;
}

/* Large parameters are read block by block. */
static bool stream_args(struct packer *p, const struct value *const *args, uint32_t n, struct arena *scratch, struct stream_weight *weights)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct value *v = args[i];
		weights[i] = (struct stream_weight){.read = p->in->read,
						    .reader = v->is_transposed ? NULL : model_pack_open_param(p, v, scratch)};
		if (weights[i].reader)
			weights[i].tensor = p->in->params[v->param];
		else if (!model_pack_value_tensor(p, v, scratch, &weights[i].tensor))
			return false;
	}
	return true;
}

static bool model_pack_interpret(struct packer *p, const struct ir_fn *f, const struct value *const *args, uint32_t n,
				 struct arena *scratch, struct stream_result *results, const char **error)
{
	struct tensor *weights = ARENA_ARRAY(scratch, struct tensor, n + 1), *out = ARENA_ARRAY(scratch, struct tensor, f->n_outputs + 1);
	int64_t *syms = ARENA_ARRAY(scratch, int64_t, dims_syms(f->dims) + 1); /* zero: no build-time value depends on them */
	for (uint32_t i = 0; i < n; i++)
		if (!model_pack_value_tensor(p, args[i], scratch, &weights[i]))
			return false;
	if (!buildtime_run(f, weights, syms, 0, p->part, out, error))
		return false;
	for (uint32_t o = 0; o < f->n_outputs; o++)
		results[o] = (struct stream_result){out[o], false};
	return true;
}

/* A result in the order of the weights. */
static struct stream_result straight_result(const struct ir_fn *f, uint32_t i, const struct stream_result *r, struct arena *scratch)
{
	struct stream_result out = *r;
	if (r->is_transposed || ir_at(f, f->outputs[i])->op != OP_TRANSPOSE || r->tensor.rank != 2)
		return out;
	out.tensor = tensor_transposed(&r->tensor);
	out.tensor.data = arena_alloc(scratch, (size_t)tensor_bytes(&r->tensor) + 1, 64);
	layout_pack_transposed(LAYOUT_PLAIN, &r->tensor, out.tensor.data);
	return out;
}

/* Reports what the piece did to its parameters. */
static void model_pack_report(struct packer *p, const struct ir_fn *f, const struct value *const *args, uint32_t n,
			      const struct stream_result *results, struct arena *scratch)
{
	struct stream_result *straight = ARENA_ARRAY(scratch, struct stream_result, f->n_outputs + 1);
	for (uint32_t i = 0; i < f->n_outputs; i++)
		straight[i] = straight_result(f, i, &results[i], scratch);
	for (uint32_t i = 0; i < n; i++) {
		struct tensor w;
		struct quantized q;
		if (args[i]->param != VALUE_COMPUTED && model_pack_value_tensor(p, args[i], scratch, &w) &&
		    quantized_measure(&w, straight, f->n_outputs, p->in->program->params[args[i]->param].name, &q))
			p->host->quantized(p->host->ctx, &q);
	}
}

/* A value that an argument needs may have failed: then the error is known. */
static bool model_pack_evaluate(struct packer *p, struct evaluation *e, uint32_t piece)
{
	const struct build_fn_interface *interface = &e->plan->interface;
	struct arena *scratch = arena_new(0);
	const struct value **args = ARENA_ARRAY(scratch, const struct value *, interface->n_weights + 1);
	struct stream_result *results = ARENA_ARRAY(scratch, struct stream_result, interface->n_outputs + 1);
	struct stream_weight *weights = ARENA_ARRAY(scratch, struct stream_weight, interface->n_weights + 1);
	const struct ir_fn *f = build_fn_piece(scratch, p->in->build_fn(p->in->ctx, e->plan), interface, piece);
	uint32_t n = list_args(e, piece, args);
	struct stream *s = stream_plan(scratch, f);
	const char *error = NULL;
	bool ok = s ? stream_args(p, args, n, scratch, weights) && stream_run(s, weights, p->host->compiler, p->part, results, &error)
		    : model_pack_interpret(p, f, args, n, scratch, results, &error);
	if (!ok && error)
		model_pack_fail(p, e->plan->unit->name, error);
	if (ok && p->host->quantized)
		model_pack_report(p, f, args, n, results, scratch);
	for (uint32_t o = 0, k = 0; ok && o < interface->n_outputs; o++)
		if (interface->outputs[o].piece == piece)
			e->outputs[o] = results[k++];
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

/* A span of its own for each layout: one that packs slower is seen in profiles. */
static void pack_to_layout(enum layout layout, const struct tensor *t, bool is_transposed, void *out)
{
	measure_begin(ir_layout_text(layout));
	(is_transposed ? layout_pack_transposed : layout_pack)(layout, t, out);
	measure_end();
}

/* Packs a parameter part by part. `reader` NULL: its elements are in memory. Plain elements form one column. */
static bool pack_parts(struct packer *p, const struct blob_source *s, struct model_blob *b, void *reader, struct arena *scratch)
{
	const char *error = "unknown error";
	struct tensor t = p->in->params[s->value.param];
	bool is_plain = s->layout == LAYOUT_PLAIN;
	if (is_plain)
		t = (struct tensor){t.elem, 2, {tensor_count(&t), 1}, t.data};
	int64_t rows = t.dims[0], cols = tensor_count(&t) / rows, each = layout_part_rows(s->layout, s->value.is_transposed);
	size_t row_bytes = (size_t)cols * dtype_size(t.elem);
	const char *in_memory = t.data;
	uint64_t at = 0;
	each *= 1 + PART_ELEMENTS / (each * cols);
	if (reader)
		t.data = arena_alloc(scratch, (size_t)each * row_bytes, 64);
	for (int64_t r = 0; r < rows; r += each) {
		t.dims[0] = rows - r < each ? rows - r : each;
		struct tensor packed = s->value.is_transposed ? tensor_transposed(&t) : t;
		size_t size = layout_packed_size(s->layout, &packed);
		if (!reader)
			t.data = (void *)(uintptr_t)(in_memory + (size_t)r * row_bytes);
		else if (!p->in->read(reader, r * cols, t.dims[0] * cols, t.data, &error))
			return model_pack_fail(p, p->in->program->params[s->value.param].name, error);
		if (!is_plain) {
			buffer_reserve(p->buffer, size);
			pack_to_layout(s->layout, &t, s->value.is_transposed, p->buffer->at);
		}
		if (!p->host->write(p->host->ctx, b, at, is_plain ? t.data : p->buffer->at, size, &error))
			return model_pack_fail(p, b->unit->name, error);
		at += size;
	}
	BUG_ON(at != b->len);
	return true;
}

static bool pack_whole(struct packer *p, const struct blob_source *s, struct model_blob *b, struct arena *scratch)
{
	struct stream_result r;
	bool ok = value_result(p, &s->value, scratch, &r);
	const char *error = "unknown error";
	const void *bytes = ok ? r.tensor.data : NULL;
	if (ok && (r.is_transposed || s->layout != LAYOUT_PLAIN)) {
		buffer_reserve(p->buffer, b->len);
		pack_to_layout(s->layout, &r.tensor, r.is_transposed, p->buffer->at);
		bytes = p->buffer->at;
	}
	if (ok && !p->host->write(p->host->ctx, b, 0, bytes, b->len, &error))
		ok = model_pack_fail(p, b->unit->name, error);
	return ok;
}

/* True if the elements of a parameter are in memory, and no copy of them need be. */
static bool is_in_memory(const struct packer *p, const struct value *v)
{
	return v->param != VALUE_COMPUTED && p->in->params[v->param].data && tensor_count(&p->in->params[v->param]);
}

static bool model_pack_pack(struct packer *p, const struct blob_source *s, struct model_blob *b)
{
	struct arena *scratch = arena_new(0);
	bool has_parts = layout_part_rows(s->layout, s->value.is_transposed);
	void *reader = has_parts ? model_pack_open_param(p, &s->value, scratch) : NULL;
	bool ok = reader || (has_parts && is_in_memory(p, &s->value)) ? pack_parts(p, s, b, reader, scratch) : pack_whole(p, s, b, scratch);
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
			ok = model_pack_pack(&p, &w->sources[i], &w->blobs[i]);
	arena_free(p.part);
	return ok;
}
