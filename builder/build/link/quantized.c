/* Packs the trits and codes of a model without storing them, and prints a line for each parameter that they are made of. */
#include "builder/build/link/quantized.h"
#include "backend/link/model/quantized.h"
#include <stdio.h>
#include <string.h>
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/foreign.h"
#include "base/json.h"
#include "base/print.h"
#include "builder/build/link/pack.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "frontend/hir/hir.h"

struct table {
	const struct model_job *model;
	struct buf text;
	struct arena *a;
	const char **names; /* that have a line: units with the same weights quantize them once each */
	uint32_t n;
	bool json;
};

/* Other weights count as stored. */
static bool is_no_code(void *ctx, struct model_blob *b)
{
	(void)ctx;
	return b->elem != DT_TRIT && b->elem != DT_INT8;
}

static bool ignore(void *ctx, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error)
{
	(void)ctx, (void)b, (void)at, (void)bytes, (void)n, (void)error;
	return true;
}

static void quantized_put_text(struct table *t, const struct quantized *q, double zeros)
{
	foreign_printf(&t->text, FOREIGN_LINE, "%-40s %-5s [", q->name, dtype_text(q->type->elem));
	for (uint32_t k = 0; k < q->type->rank; k++)
		foreign_printf(&t->text, FOREIGN_LINE, "%s%lld", k ? ", " : "", (long long)q->type->dims[k]);
	foreign_printf(&t->text, FOREIGN_LINE, "]  zeros %.1f %%  scale %.6g  relative error %.4f\n", 100 * zeros, q->scale, q->error);
}

static void quantized_put_json(struct table *t, const struct quantized *q, double zeros)
{
	struct json_writer w = {.out = &t->text};
	json_open(&w, '{');
	json_member_str(&w, "type", "quantized");
	json_member_str(&w, "model", t->model->spec->name);
	json_member_str(&w, "name", q->name);
	json_member_str(&w, "dtype", dtype_text(q->type->elem));
	json_member_open(&w, "shape", '[');
	for (uint32_t k = 0; k < q->type->rank; k++)
		json_int(&w, q->type->dims[k]);
	json_close(&w, ']');
	json_member_real(&w, "zeros", zeros);
	json_member_real(&w, "scale", q->scale);
	json_member_real(&w, "error", q->error);
	json_close(&w, '}');
	buf_putc(&t->text, '\n');
}

static void quantized_put(void *ctx, const struct quantized *q)
{
	struct table *t = ctx;
	double zeros = (double)q->zeros / (double)tensor_count(q->type);
	for (uint32_t i = 0; i < t->n; i++)
		if (strcmp(t->names[i], q->name) == 0)
			return;
	t->names[t->n++] = q->name;
	if (t->json)
		quantized_put_json(t, q, zeros);
	else
		quantized_put_text(t, q, zeros);
}

bool pack_print_quantized(const struct stores *stores, struct diags *diags, const struct build_request *request, struct model_job *m)
{
	struct arena *a = arena_new(0);
	struct table t = {
		.model = m, .json = request->options->json > 0, .a = a, .names = ARENA_ARRAY(a, const char *, m->program->n_params + 1)};
	struct model_input in = pack_model_input(&(struct packing){stores, &m->variants[0]});
	struct weight_host host = {.find = is_no_code, .write = ignore, .ctx = &t, .quantized = quantized_put};
	struct model_weights *w = model_layout_weights(a, &in);
	struct pack_buffer buffer = {0};
	const char *error = NULL;
	bool ok = true;
	for (uint32_t part = 0; part < w->n_parts && ok; part++)
		ok = model_pack_weights(a, &in, w, part, &buffer, &host, &error);
	if (!ok)
		diag_add(diags, DIAG_BUILD_VALUE, m->spec->entry_at, "model `%s`: %s", m->spec->name, error);
	print_text(request->out, &t.text);
	buf_free(&t.text);
	pack_buffer_free(&buffer);
	arena_free(a);
	return ok;
}
