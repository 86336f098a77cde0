/* Finds the layers at both ends of a tensor. */
#include "frontend/unit/layer_pair.h"
#include <string.h>

enum { MOST_STEPS = 64 };

void note_layer_results(struct emitter *e, struct value v, const struct named_layer *layer)
{
	if (v.kind == V_TENSOR)
		vec_push(&e->b->layer_results, ((struct layer_result){v.u.t, *layer}));
	for (uint32_t i = 0; value_is_seq(v) && value_contains(v, V_TENSOR) && i < v.u.seq->n; i++)
		note_layer_results(e, v.u.seq->at[i], layer);
}

/* The last layer that returned the tensor: the outermost one. */
static const struct named_layer *find_layer(const struct builder *b, hir_ref r)
{
	for (uint32_t i = b->layer_results.len; i-- > 0;)
		if (b->layer_results.at[i].tensor == r)
			return &b->layer_results.at[i].layer;
	return NULL;
}

/* The size of a dimension, counted from the last, 1. False: there is none. */
static bool size_from_end(const struct hir_type *t, uint32_t from_end, dim *size)
{
	if (from_end > t->rank)
		return false;
	*size = t->dims[t->rank - from_end];
	return true;
}

/* The first operand with this size of the result, of a dimension counted from the last; HIR_NONE: there is none. */
static hir_ref operand_of_size(const struct builder *b, const struct hir_node *n, uint32_t from_end)
{
	dim want, have;
	if (n->kind == HIR_RESULT || !size_from_end(&n->type, from_end, &want))
		return HIR_NONE;
	for (uint32_t i = 0; i < n->n_args; i++) {
		const struct hir_arg *a = &b->args.at[n->args + i];
		if (a->kind != ARG_TENSOR)
			continue;
		if (size_from_end(&b->nodes.at[a->u.tensor].type, from_end, &have) && dim_eq(have, want))
			return a->u.tensor;
	}
	return HIR_NONE;
}

/* False for a layer such as `nn.ReLU`, which may pass on the size of the layer before it. */
static bool has_weights(const struct named_layer *layer) { return !layer->self || !layer->self->params || layer->self->params->n; }

const struct named_layer *layer_of_result(const struct builder *b, hir_ref r, uint32_t axis)
{
	const struct named_layer *found = NULL;
	uint32_t from_end = b->nodes.at[r].type.rank - axis;
	for (uint32_t i = 0; i < MOST_STEPS && r != HIR_NONE; i++) {
		const struct named_layer *layer = find_layer(b, r);
		if (layer && has_weights(layer))
			return layer;
		found = found ? found : layer;
		r = operand_of_size(b, &b->nodes.at[r], from_end);
	}
	return found;
}

const char *layer_name(struct emitter *e, const struct named_layer *layer)
{
	const char *path = layer->self ? path_in_list(e, layer->self) : "";
	if (*path)
		return arena_printf(e->f->arena, "`%s`", path);
	const char *name = strchr(layer->what, '`');
	return name ? name : arena_printf(e->f->arena, "`%s`", layer->what);
}

static void label_layer(struct emitter *e, struct diag *g, const struct named_layer *layer, const char *does, const char *what)
{
	if (layer->made.source != SPAN_NO_SOURCE && !is_in_std(e, layer->made))
		diag_secondary(e->report.out, g, layer->made, "%s %s %s", layer_name(e, layer), does, what);
}

void label_layers(struct emitter *e, struct diag *g, const struct named_layer *giver, const char *gives, const struct named_layer *taker,
		  const char *takes)
{
	label_layer(e, g, giver, "gives", gives);
	label_layer(e, g, taker, "takes", takes);
}
