#include "builder/query/data_flow.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/source.h"
#include "base/vec.h"
#include "frontend/hir/hir.h"

struct flow_maker {
	struct arena *a;
	const struct hir_unit *u;
	const struct sources *sources;
	const struct map *by_identity;
	uint32_t first;
	uint32_t *step_of; /* of nodes; HIR_NONE: none, as of scalar literals and sizes */
	struct data_flow f;
	VEC(struct flow_value) values;
};

const char *step_kind_text(enum step_kind k)
{
	static const char *const texts[] = {
#define STEP(id, text, help) text,
#include "builder/query/step_kinds.def"
	};
	return texts[k];
}

const char *hir_type_text(struct arena *a, const struct hir_unit *u, const struct hir_type *t)
{
	struct buf out = {0};
	buf_puts(&out, dtype_text(t->elem));
	for (uint32_t i = 0; i < t->rank; i++) {
		buf_puts(&out, i ? ", " : "[");
		dim_print(u->dims, t->dims[i], &out);
	}
	if (t->rank)
		buf_putc(&out, ']');
	const char *text = arena_strndup(a, out.at, out.len);
	buf_free(&out);
	return text;
}

static uint32_t data_flow_number_of(const struct flow_maker *m, const struct hir_unit *callee)
{
	uint64_t at;
	return callee && map_get(m->by_identity, callee->identity, &at) ? m->first + (uint32_t)at : UINT32_MAX;
}

/* False: nothing of interest flows from the node. */
static bool describe_step(const struct flow_maker *m, const struct hir_node *n, struct flow_step *s)
{
	s->unit = data_flow_number_of(m, n->callee);
	s->other = data_flow_number_of(m, n->other);
	s->layer = n->layer;
	s->name = n->callee ? n->callee->name : "";
	switch (n->kind) {
	case HIR_INPUT:
		s->kind = n->build_time ? FLOW_PARAMETER : FLOW_INPUT;
		s->name = m->u->inputs[n->index].name;
		return true;
	case HIR_CONST: s->kind = FLOW_CONSTANT; return n->type.rank > 0;
	case HIR_BUILTIN:
		s->kind = FLOW_OPERATION;
		s->name = builtin_name(n->builtin);
		return true;
	case HIR_CALL: s->kind = FLOW_CALL; return true;
	case HIR_IF: s->kind = FLOW_IF; return true;
	case HIR_LOOP: s->kind = FLOW_LOOP; return true;
	case HIR_PRINT:
	case HIR_ASSERT:
		s->kind = FLOW_EFFECT;
		s->name = n->kind == HIR_PRINT ? "print" : "assert";
		return true;
	case HIR_DIM:
	case HIR_RESULT: break;
	}
	return false;
}

static void data_flow_add_value(struct flow_maker *m, hir_ref from, uint32_t to)
{
	if (m->step_of[from] != HIR_NONE)
		vec_push(&m->values, ((struct flow_value){m->step_of[from], to, hir_type_text(m->a, m->u, &m->u->nodes[from].type)}));
}

static void add_operands(struct flow_maker *m, const struct hir_arg *args, uint32_t n, uint32_t to)
{
	for (uint32_t i = 0; i < n; i++) {
		if (args[i].kind == ARG_TENSOR)
			data_flow_add_value(m, args[i].u.tensor, to);
		else if (args[i].kind == ARG_LIST)
			add_operands(m, m->u->args + args[i].u.list.start, args[i].u.list.n, to);
	}
}

static uint32_t data_flow_line_of(const struct flow_maker *m, span at)
{
	return at.source == SPAN_NO_SOURCE ? 0 : source_position(m->sources, at.source, at.start).line;
}

static void data_flow_add_node(struct flow_maker *m, hir_ref r)
{
	const struct hir_node *n = &m->u->nodes[r];
	struct flow_step s = {.line = data_flow_line_of(m, n->at)};
	bool is_step = describe_step(m, n, &s);
	m->step_of[r] = is_step ? m->f.n_steps : n->kind == HIR_RESULT ? m->step_of[n->source] : HIR_NONE;
	if (!is_step)
		return;
	m->f.steps[m->f.n_steps++] = s;
	add_operands(m, m->u->args + n->args, n->n_args, m->step_of[r]);
}

struct data_flow data_flow_of(struct arena *a, const struct hir_unit *u, const struct sources *s, const struct map *by_identity,
			      uint32_t first)
{
	struct flow_maker m = {.a = a, .u = u, .sources = s, .by_identity = by_identity, .first = first};
	m.step_of = ARENA_ARRAY(a, uint32_t, u->n_nodes + 1);
	m.f.steps = ARENA_ARRAY(a, struct flow_step, (size_t)u->n_nodes + u->n_outputs + 1);
	for (hir_ref r = 0; r < u->n_nodes; r++)
		data_flow_add_node(&m, r);
	for (uint32_t i = 0; i < u->n_outputs; i++) {
		m.f.steps[m.f.n_steps] = (struct flow_step){FLOW_OUTPUT, u->outputs[i].name, NULL, 0, UINT32_MAX, UINT32_MAX};
		data_flow_add_value(&m, u->outputs[i].node, m.f.n_steps++);
	}
	m.f.n_values = m.values.len;
	m.f.values = ARENA_ARRAY(a, struct flow_value, m.values.len + 1);
	for (uint32_t i = 0; i < m.values.len; i++)
		m.f.values[i] = m.values.at[i];
	vec_free(&m.values);
	return m.f;
}
