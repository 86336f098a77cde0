/* Lists the ternary weights of a model, as they are packed, and puts them into the descriptor. */
#include "backend/link/model/model_trits.h"
#include <stdlib.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/link/model/layout_weights.h"
#include "backend/link/model/model.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

/* The first parameter that a value is computed from. */
static const char *model_trits_name_of(const struct model_input *in, const struct value *v)
{
	const struct value *next = v;
	while (next && next->param == VALUE_COMPUTED) {
		const struct evaluation *e = next->maker;
		const struct build_fn_interface *interface = &e->plan->interface;
		uint32_t piece = interface->outputs[next->output].piece;
		next = NULL;
		for (uint32_t i = 0; i < interface->n_weights && !next; i++)
			if (interface->piece_of[i] == piece)
				next = &e->args[i];
	}
	return next ? in->program->params[next->param].name : "";
}

static double estimate(const struct model_trits *t)
{
	const struct packed_trits *p = &t->packed;
	bool blocks = strcmp(p->form, "blocks") == 0, lists = strcmp(p->form, "lists") == 0;
	return (double)tensor_count(&t->type) * (double)(blocks ? p->blocks_one : lists ? p->lists_one : 1);
}

/* Weights that take as long are in the order of their names. */
static int model_trits_compare(const void *a, const void *b)
{
	const struct model_trits *x = a, *y = b;
	return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost) : strcmp(x->name, y->name);
}

struct model_trits *model_list_trits(struct arena *a, const struct model_input *in, const struct model_weights *w, const void *const *bytes,
				     uint32_t *n)
{
	struct model_trits *list = ARENA_ARRAY(a, struct model_trits, w->n_blobs + 1);
	*n = 0;
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		const struct blob_source *s = &w->sources[i];
		struct model_trits *t = &list[*n];
		struct tensor type = value_type(in, &s->value);
		if (!layout_describe_trits(s->layout, &type, bytes[i], &t->packed))
			continue;
		t->name = model_trits_name_of(in, &s->value);
		t->layout = ir_layout_text(s->layout);
		t->type = type;
		t->len = w->blobs[i].len;
		t->is_new = w->blobs[i].is_new;
		t->cost = estimate(t);
		++*n;
	}
	qsort(list, *n, sizeof *list, model_trits_compare);
	return list;
}

void model_trits_put(struct section_builder *desc, struct section_builder *strings, const struct model_info *info)
{
	struct section_builder b = section_begin(desc->o, SECTION_RELRO, ".data.rel.ro.trits", NULL);
	for (uint32_t i = 0; i < info->n_trits; i++) {
		const struct model_trits *t = &info->trits[i];
		const char *texts[] = {t->name, t->layout, t->packed.form};
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
			section_put_string(&b, strings, texts[k]);
		buf_u32(&b.bytes, t->type.rank);
		buf_u32(&b.bytes, 0);
		for (uint32_t k = 0; k < TRI_MAX_RANK; k++)
			buf_u64(&b.bytes, k < t->type.rank ? (uint64_t)t->type.dims[k] : 0);
		buf_u64(&b.bytes, t->len);
		buf_u64(&b.bytes, t->packed.zeros);
		const uint32_t counts[] = {t->packed.zero_rows, t->packed.zero_columns, t->packed.zero_blocks, t->packed.blocks};
		buf_put(&b.bytes, counts, sizeof counts);
		const float times[] = {t->packed.blocks_one, t->packed.blocks_many, t->packed.lists_one, t->packed.lists_many};
		buf_put(&b.bytes, times, sizeof times);
	}
	section_put_address(desc, section_end(&b, sizeof(tri_weight_desc)), 0);
	buf_u32(&desc->bytes, info->n_trits);
	buf_u32(&desc->bytes, 0);
}
