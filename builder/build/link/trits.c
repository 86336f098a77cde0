/* The ternary weights of a model as they were packed: for the library's description, and for --explain. */
#include "builder/build/link/trits.h"
#include <string.h>
#include "backend/link/backend.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/foreign.h"
#include "base/json.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/weights/packed.h"
#include "builder/weights/triw.h"

/* ---- list ---- */

/* Stores where the blobs of a weight file are in memory. */
static bool find_in_file(const struct variant *v, const void *file, size_t size, const void **bytes)
{
	uint32_t n;
	const struct triw_entry *table = triw_read_table(file, size, &n);
	for (uint32_t i = 0; table && i < n && n == v->pack.layout->n_blobs; i++)
		bytes[i] = (const char *)file + table[i].offset;
	return table && n == v->pack.layout->n_blobs;
}

static bool find_in_library(const struct variant *v, const void **bytes)
{
	const struct model_weights *w = v->pack.layout;
	const char *image = packed_map(v->pack.packed);
	for (uint32_t i = 0; i < w->n_blobs && image; i++)
		bytes[i] = image + w->blobs[i].offset;
	return image;
}

bool pack_list_trits(struct variant *v, const struct model_input *in)
{
	struct model_pack *p = &v->pack;
	const void *file = NULL, **bytes = ARENA_ARRAY(p->arena, const void *, p->layout->n_blobs + 1);
	size_t size = 0;
	bool ok = p->triw ? os_map_file(triw_path(p->triw), &file, &size) && find_in_file(v, file, size, bytes) : find_in_library(v, bytes);
	if (ok)
		p->trits = model_list_trits(p->arena, in, p->layout, bytes, &p->n_trits);
	os_unmap(file, size);
	return ok || model_link_failed(v->model, "its weights cannot be read again");
}

/* ---- print ---- */

static double trits_percent(uint64_t part, uint64_t all) { return all ? 100 * (double)part / (double)all : 0; }

static void put_shape(struct buf *out, const struct tensor *t)
{
	buf_putc(out, '[');
	for (uint32_t k = 0; k < t->rank; k++)
		foreign_printf(out, FOREIGN_LINE, "%s%lld", k ? ", " : "", (long long)t->dims[k]);
	buf_putc(out, ']');
}

static void put_zero_lines(struct buf *out, uint32_t n, int64_t all, const char *what)
{
	if (n)
		foreign_printf(out, FOREIGN_LINE, ", %u of %lld %s", n, (long long)all, what);
}

/* A matrix [K, N] has rows and columns, a convolution [O, C, KH, KW] input and output channels. */
static void trits_put_text(struct buf *out, const struct model_trits *trits)
{
	const struct packed_trits *p = &trits->packed;
	bool is_matrix = trits->type.rank == 2;
	uint64_t count = (uint64_t)tensor_count(&trits->type);
	size_t from = out->len;
	foreign_printf(out, FOREIGN_LINE, "  %-40s ", trits->name);
	put_shape(out, &trits->type);
	while (out->len < from + 64)
		buf_putc(out, ' ');
	foreign_printf(out, FOREIGN_LINE, " %-13s %-6s %.2f bits  zeros %.1f %%", trits->layout, p->form,
		       8 * (double)trits->len / (double)count, trits_percent(p->zeros, count));
	put_zero_lines(out, p->zero_rows, trits->type.dims[is_matrix ? 0 : 1], is_matrix ? "rows" : "input channels");
	put_zero_lines(out, p->zero_columns, trits->type.dims[is_matrix ? 1 : 0], is_matrix ? "columns" : "output channels");
	if (p->zero_blocks)
		foreign_printf(out, FOREIGN_LINE, ", %.1f %% of blocks", trits_percent(p->zero_blocks, p->blocks));
	if (p->blocks_one > 0)
		foreign_printf(out, FOREIGN_LINE, "; estimates: blocks %.2f, %.2f", (double)p->blocks_one, (double)p->blocks_many);
	if (p->lists_one > 0)
		foreign_printf(out, FOREIGN_LINE, "; lists %.2f, %.2f", (double)p->lists_one, (double)p->lists_many);
	buf_putc(out, '\n');
}

static void trits_put_json(struct buf *out, const struct variant *v, const struct model_trits *trits)
{
	const struct packed_trits *p = &trits->packed;
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "weight");
	json_member_str(&w, "model", v->model->spec->name);
	json_member_str(&w, "backend", v->backend->name);
	json_member_str(&w, "name", trits->name);
	json_member_open(&w, "shape", '[');
	for (uint32_t k = 0; k < trits->type.rank; k++)
		json_int(&w, trits->type.dims[k]);
	json_close(&w, ']');
	json_member_str(&w, "layout", trits->layout);
	json_member_str(&w, "form", p->form);
	json_member_int(&w, "bytes", (int64_t)trits->len);
	json_member_int(&w, "zeros", (int64_t)p->zeros);
	json_member_int(&w, "zero_rows", p->zero_rows);
	json_member_int(&w, "zero_columns", p->zero_columns);
	json_member_int(&w, "zero_blocks", p->zero_blocks);
	json_member_int(&w, "blocks", p->blocks);
	json_member_real(&w, "blocks_one", (double)p->blocks_one);
	json_member_real(&w, "blocks_many", (double)p->blocks_many);
	json_member_real(&w, "lists_one", (double)p->lists_one);
	json_member_real(&w, "lists_many", (double)p->lists_many);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

static uint32_t count_new(const struct model_pack *pack)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < pack->n_trits; i++)
		n += pack->trits[i].is_new;
	return n;
}

/* What was packed in this build, and with `all` what the last one had, too; else the number of those. */
static void put_variant(struct buf *out, const struct variant *v, bool all)
{
	const struct model_pack *p = &v->pack;
	uint32_t shown = all ? p->n_trits : count_new(p);
	buf_printf(out, "ternary weights of %s, %s", v->model->spec->name, v->backend->name);
	if (shown)
		buf_puts(out, ", the slowest first; estimates for one row of activations and for many, dense is 1:\n");
	for (uint32_t i = 0; i < p->n_trits; i++)
		if (all || p->trits[i].is_new)
			trits_put_text(out, &p->trits[i]);
	if (shown < p->n_trits)
		buf_printf(out, "%s%u as in the last build; -v lists them\n", shown ? "  " : ": ", p->n_trits - shown);
}

static void put_variant_json(struct buf *out, const struct variant *v, bool all)
{
	const struct model_pack *p = &v->pack;
	struct json_writer w = {.out = out};
	for (uint32_t i = 0; i < p->n_trits; i++)
		if (all || p->trits[i].is_new)
			trits_put_json(out, v, &p->trits[i]);
	json_open(&w, '{');
	json_member_str(&w, "type", "weights");
	json_member_str(&w, "model", v->model->spec->name);
	json_member_str(&w, "backend", v->backend->name);
	json_member_int(&w, "ternary", p->n_trits);
	json_member_int(&w, "new", count_new(p));
	json_close(&w, '}');
	buf_putc(out, '\n');
}

enum step weights_explain(const struct build_request *request, const struct project *p)
{
	struct buf out = {0};
	for (uint32_t i = 0; p->spec.explain && i < p->n_models; i++)
		for (uint32_t k = 0; k < p->models[i].n_variants; k++) {
			const struct variant *v = &p->models[i].variants[k];
			if (v->pack.n_trits)
				(request->options->json > 0 ? put_variant_json : put_variant)(&out, v, p->spec.verbose);
		}
	print_text(request->out, &out);
	buf_free(&out);
	return STEP_NEXT;
}
