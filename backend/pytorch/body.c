/* The bodies of functions. A node is a statement if the source names it, if it is used several times, or if it has effects; any other is a part
 * of the statement that uses it. */
#include <string.h>
#include "backend/pytorch/print.h"
#include "backend/pytorch/text.h"

enum { LONG_EXPRESSION = 56 };

/* ---- uses ---- */

static void each_tensor(const struct body *b, const struct hir_arg *x, void (*f)(struct body *b, hir_ref r))
{
	if (x->kind == ARG_TENSOR)
		f((struct body *)b, x->u.tensor);
	for (uint32_t i = 0; x->kind == ARG_LIST && i < x->u.list.n; i++)
		each_tensor(b, &b->u->args[x->u.list.start + i], f);
}

/* True for an argument of a call whose text it shows. */
static bool is_shown(const struct hir_node *n, uint32_t i)
{
	uint32_t lead = n->kind == HIR_IF || n->kind == HIR_LOOP;
	if (!hir_calls(n->kind) || i < lead)
		return true;
	i -= lead;
	if (n->other && i >= n->callee->n_inputs)
		return is_passed(n->other, i - n->callee->n_inputs);
	return is_passed(n->callee, i);
}

/* True for a result that is read from the layer's state after the call. */
static bool is_state_result(const struct body *b, const struct hir_node *n)
{
	const struct hir_node *s = n->kind == HIR_RESULT ? &b->u->nodes[n->source] : NULL;
	return s && hir_calls(s->kind) && s->kind != HIR_LOOP && s->callee->outputs[n->index].state_only;
}

static void each_operand(struct body *b, hir_ref r, void (*f)(struct body *b, hir_ref r))
{
	const struct hir_node *n = &b->u->nodes[r];
	uint32_t count;
	const struct hir_arg *args = shown_args(b, r, &count);
	if (n->kind == HIR_RESULT && !is_state_result(b, n))
		f(b, n->source);
	for (uint32_t i = 0; i < count; i++)
		if (is_shown(n, i))
			each_tensor(b, &args[i], f);
}

static void add_use(struct body *b, hir_ref r) { b->uses[r]++; }

static bool changes_states(const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_outputs; i++)
		if (u->outputs[i].state)
			return true;
	return false;
}

static bool takes_states(const struct hir_node *n)
{
	for (uint32_t i = 0; n->kind == HIR_CALL && i < n->callee->n_inputs; i++)
		if (n->callee->inputs[i].state)
			return true;
	return false;
}

/* A call that reads states happens where it is written, too: others may change them. */
static bool has_effect(const struct hir_node *n)
{
	return hir_has_effect(n) || takes_states(n) || (hir_calls(n->kind) && changes_states(n->callee));
}

/* True for the source of several results, which a statement assigns to several variables. */
static bool is_tuple(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	if (n->kind == HIR_LOOP)
		return true;
	if (hir_calls(n->kind))
		return returned_outputs(n->callee) > 1;
	for (hir_ref k = r + 1; n->kind == HIR_BUILTIN && k < b->u->n_nodes; k++)
		if (b->u->nodes[k].kind == HIR_RESULT && b->u->nodes[k].source == r)
			return true;
	return false;
}

static bool is_tuple_result(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	return n->kind == HIR_RESULT && is_tuple(b, n->source) && !is_state_result(b, n);
}

/* True for the new value of a state that the call of its layer assigns. */
static bool is_set_by_callee(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r], *s = n->kind == HIR_RESULT ? &b->u->nodes[n->source] : NULL;
	return s && s->kind == HIR_CALL && s->callee->outputs[n->index].state;
}

static void count_uses(struct body *b)
{
	const struct hir_unit *u = b->u;
	for (uint32_t i = 0; i < u->n_outputs; i++) /* a new state is assigned, and may be returned */
		if (!(u->outputs[i].state_only && is_set_by_callee(b, u->outputs[i].node)))
			b->uses[u->outputs[i].node] += u->outputs[i].state ? 2 : 1;
	for (hir_ref r = u->n_nodes; r-- > 0;) {
		if (has_effect(&u->nodes[r]))
			b->uses[r] += b->uses[r] == 0;
		if (b->uses[r])
			each_operand(b, r, add_use);
	}
}

/* ---- variables ---- */

static void set_last(struct body *b, hir_ref r, hir_ref statement)
{
	if (b->last[r] < statement)
		b->last[r] = statement;
}

static bool is_leaf(const struct hir_node *n) { return n->kind == HIR_INPUT || n->kind == HIR_CONST || n->kind == HIR_DIM; }

static bool is_size_source(const struct body *b, hir_ref r)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		if (b->sizes[s] && b->size_of[s] == r)
			return true;
	return false;
}

/* True if the node needs a statement of its own, whatever the length of its text. */
static bool needs_statement(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	if (is_leaf(n) || !b->uses[r])
		return false;
	if (is_state_result(b, n))
		return true; /* a later call may change the state */
	if (is_tuple(b, r) || is_tuple_result(b, r) || has_effect(n) || n->kind == HIR_IF)
		return true;
	if (n->kind == HIR_RESULT && has_effect(&b->u->nodes[n->source]))
		return false;
	return n->name || b->uses[r] > 1 || is_size_source(b, r);
}

/* The last statement that reads each variable, if the nodes that have a variable are statements. */
static void find_last_uses(struct body *b)
{
	const struct hir_unit *u = b->u;
	for (hir_ref r = 0; r < u->n_nodes; r++)
		b->last[r] = b->place[r] = r;
	for (uint32_t i = 0; i < u->n_outputs; i++)
		b->last[u->outputs[i].node] = u->n_nodes;
	for (hir_ref r = u->n_nodes; r-- > 0;) {
		if (!b->uses[r])
			continue;
		const struct hir_node *n = &u->nodes[r];
		bool part = !needs_statement(b, r);
		b->place[r] = part ? b->last[r] : r;
		hir_ref reads = n->kind == HIR_LOOP ? r + 1 : b->place[r]; /* each turn of a loop reads what it captured */
		uint32_t count;
		const struct hir_arg *args = shown_args(b, r, &count);
		if (n->kind == HIR_RESULT && !is_state_result(b, n))
			set_last(b, n->source, reads);
		for (uint32_t i = 0; i < count; i++) {
			if (!is_shown(n, i))
				continue;
			if (args[i].kind == ARG_TENSOR)
				set_last(b, args[i].u.tensor, reads);
			for (uint32_t k = 0; args[i].kind == ARG_LIST && k < args[i].u.list.n; k++) {
				const struct hir_arg *x = &u->args[args[i].u.list.start + k];
				if (x->kind == ARG_TENSOR)
					set_last(b, x->u.tensor, reads);
			}
		}
	}
}

/* True if another value that is needed after node r is in the variable. */
static bool is_taken(const struct body *b, const char *name, hir_ref r)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		if (b->sizes[s] && strcmp(b->sizes[s], name) == 0)
			return true;
	for (uint32_t i = 0; i < b->n_tuple; i++)
		if (strcmp(b->tuple[i], name) == 0)
			return true;
	for (hir_ref k = 0; k < b->u->n_nodes; k++) {
		const struct hir_node *n = &b->u->nodes[k];
		const char *text = n->kind == HIR_INPUT ? b->inputs[n->index] : b->vars[k];
		if (k != r && text && b->uses[k] && b->last[k] > r && strcmp(text, name) == 0)
			return true;
	}
	return *b->device && strncmp(b->device, name, strlen(name)) == 0 && strcmp(b->device + strlen(name), ".device") == 0;
}

static const char *new_variable(struct body *b, hir_ref r, const char *wanted)
{
	const char *base = python_name(b->p->a, wanted ? wanted : "y"), *name = base;
	for (uint32_t i = 2; is_taken(b, name, r); i++)
		name = arena_printf(b->p->a, "%s%u", base, i);
	return name;
}

/* ---- statements ---- */

static const char *result_name(const struct body *b, hir_ref source, uint32_t index, hir_ref *result)
{
	for (hir_ref k = source + 1; k < b->u->n_nodes; k++) {
		const struct hir_node *n = &b->u->nodes[k];
		if (n->kind != HIR_RESULT || n->source != source || n->index != index || !b->uses[k])
			continue;
		*result = k;
		return n->name ? n->name : "y";
	}
	return NULL;
}

/* Gives all RESULT nodes of one result their variable. */
static void set_result(struct body *b, hir_ref source, uint32_t index, const char *name)
{
	for (hir_ref k = source + 1; k < b->u->n_nodes; k++)
		if (b->u->nodes[k].kind == HIR_RESULT && b->u->nodes[k].source == source && b->u->nodes[k].index == index)
			b->vars[k] = name;
}

/* The variables of the results of a tuple: "values, _". */
static const char *assign_results(struct body *b, hir_ref r, uint32_t n, bool all)
{
	struct arena *a = b->p->a;
	const struct hir_node *node = &b->u->nodes[r];
	const char *text = "";
	uint32_t shown = 0;
	b->tuple = ARENA_ARRAY(a, const char *, n + 1);
	b->n_tuple = 0;
	bool pair = hir_calls(node->kind) && native_takes_pair(node->callee->layer) && n == 3;
	for (uint32_t i = 0; i < n; i++) {
		if (hir_calls(node->kind) && node->kind != HIR_LOOP && node->callee->outputs[i].state_only)
			continue;
		hir_ref result = r;
		const char *wanted = result_name(b, r, i, &result), *name = "_";
		if (wanted || all) {
			name = new_variable(b, r, wanted ? wanted : "carried");
			b->tuple[b->n_tuple++] = name;
			set_result(b, r, i, name);
		}
		text = arena_printf(a, "%s%s%s%s%s", text, shown ? ", " : "", pair && shown == 1 ? "(" : "", name,
				    pair && shown == 2 ? ")" : "");
		shown++;
	}
	b->n_tuple = 0;
	return text;
}

static uint32_t result_count(const struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	uint32_t count = n->kind == HIR_LOOP  ? n->callee->n_outputs - 1
			 : hir_calls(n->kind) ? n->callee->n_outputs
					      : 2; /* a builtin has two */
	for (hir_ref k = r + 1; n->kind == HIR_BUILTIN && k < b->u->n_nodes; k++)
		if (b->u->nodes[k].kind == HIR_RESULT && b->u->nodes[k].source == r && b->u->nodes[k].index >= count)
			count = b->u->nodes[k].index + 1;
	return count;
}

static void put_line(struct buf *out, const char *indent, const char *text) { buf_printf(out, "%s%s\n", indent, text); }

/* go, carried… = condition, values…; while go: go, carried… = body(carried…, captured…) */
static void put_loop(struct body *b, hir_ref r, struct buf *out)
{
	struct arena *a = b->p->a;
	const struct hir_node *n = &b->u->nodes[r];
	const struct hir_arg *x = &b->u->args[n->args];
	uint32_t carried = n->callee->n_outputs - 1;
	const char *starts = tensor_text(b, x->u.tensor), *rest = "";
	for (uint32_t i = 0; i < carried; i++)
		starts = arena_printf(a, "%s, %s", starts, tensor_text(b, x[1 + i].u.tensor));
	for (uint32_t i = carried; i < n->callee->n_inputs; i++)
		if (is_passed(n->callee, i))
			rest = arena_printf(a, "%s, %s", rest, tensor_text(b, x[1 + i].u.tensor));
	const char *vars = assign_results(b, r, carried, true), *go = new_variable(b, r, "go");
	put_line(out, "", arena_printf(a, "%s%s%s = %s", go, carried ? ", " : "", vars, starts));
	put_line(out, "", arena_printf(a, "while %s:", go));
	const char *self = n->callee->layer ? "self." : "";
	put_line(out, "    ",
		 arena_printf(a, "%s%s%s = %s%s(%s%s)", go, carried ? ", " : "", vars, self,
			      function_name(b->p, n->callee->layer ? b->spec->owner : NULL, n->callee), vars,
			      carried ? rest
			      : *rest ? rest + 2
				      : ""));
}

/* The text of print or of the message of an assert, as an f-string. */
static const char *message_text(struct body *b, const struct hir_arg *x, const struct hir_arg *values, uint32_t n)
{
	struct arena *a = b->p->a;
	const char *text = "f\"";
	uint32_t k = 0;
	for (const char *s = x->u.s; *s; s++) {
		if (*s == '{' && s[1] != '{' && k < n) {
			text = arena_printf(a, "%s{%s}", text, operand_text(b, values[k++].u.tensor, PREC_TERNARY));
			s = strchr(s, '}');
			continue;
		}
		text = *s == '"' || *s == '\\' ? arena_printf(a, "%s\\%c", text, *s)
		       : *s == '\n'            ? arena_printf(a, "%s\\n", text)
					       : arena_printf(a, "%s%c", text, *s);
	}
	return arena_printf(a, "%s\"", text);
}

static void put_effect(struct body *b, const struct hir_node *n, struct buf *out)
{
	const struct hir_arg *x = &b->u->args[n->args];
	if (n->kind == HIR_PRINT)
		put_line(out, "", arena_printf(b->p->a, "print(%s)", message_text(b, x, x + 1, n->n_args - 1)));
	else
		put_line(out, "",
			 arena_printf(b->p->a, "assert %s, %s", operand_text(b, x[2].u.tensor, PREC_TERNARY),
				      message_text(b, x, x + 3, n->n_args - 3)));
}

static void put_size(struct body *b, uint32_t s, struct buf *out)
{
	put_line(out, "",
		 arena_printf(b->p->a, "%s = %s.shape[%u]", b->sizes[s], operand_text(b, b->size_of[s], PREC_CALL), b->size_dim[s]));
}

static void put_sizes(struct body *b, hir_ref r, struct buf *out)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		if (b->sizes[s] && b->size_of[s] == r)
			put_size(b, s, out);
}

/* ---- states ---- */

static struct held *held_at(struct body *b, const char *path)
{
	for (uint32_t i = 0; i < b->held.len; i++)
		if (strcmp(b->held.at[i].path, path) == 0)
			return &b->held.at[i];
	struct held h = {path, HIR_NONE};
	vec_push(&b->held, h);
	return &b->held.at[b->held.len - 1];
}

static bool is_same_value(const struct body *b, hir_ref x, hir_ref y)
{
	if (x == y || x == HIR_NONE || y == HIR_NONE)
		return x == y;
	const struct hir_node *m = &b->u->nodes[x], *n = &b->u->nodes[y];
	return m->kind == HIR_RESULT && n->kind == HIR_RESULT && m->source == n->source && m->index == n->index;
}

/* Gives the layer's state a value, unless it has it. */
static void put_state(struct body *b, const char *path, hir_ref value, struct buf *out)
{
	struct held *h = held_at(b, path);
	if (!is_same_value(b, h->node, value))
		put_line(out, "", arena_printf(b->p->a, "%s = %s", member_path(b->p->a, !b->spec->owner, path), tensor_text(b, value)));
	h->node = value;
}

static const char *state_path(struct body *b, const struct hir_node *call, uint32_t input)
{
	const char *name = call->callee->inputs[input].name;
	return call->layer && *call->layer ? arena_printf(b->p->a, "%s.%s", call->layer, name) : name;
}

/* The states that a call reads have the values that it is given. */
static void put_states_of_call(struct body *b, const struct hir_node *n, struct buf *out)
{
	for (uint32_t i = 0; n->kind == HIR_CALL && i < n->callee->n_inputs; i++)
		if (n->callee->inputs[i].state)
			put_state(b, state_path(b, n, i), b->u->args[n->args + i].u.tensor, out);
}

/* After a call, states have the values that it returns. */
static void note_states_of_call(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	for (hir_ref k = r + 1; n->kind == HIR_CALL && k < b->u->n_nodes; k++) {
		const struct hir_node *result = &b->u->nodes[k];
		if (result->kind == HIR_RESULT && result->source == r && n->callee->outputs[result->index].state)
			held_at(b, state_path(b, n, n->callee->outputs[result->index].state - 1))->node = k;
	}
}

static void put_node(struct body *b, hir_ref r, struct buf *out)
{
	struct arena *a = b->p->a;
	const struct hir_node *n = &b->u->nodes[r];
	put_states_of_call(b, n, out);
	if (n->kind == HIR_LOOP) {
		put_loop(b, r, out);
	} else if (n->kind == HIR_PRINT || n->kind == HIR_ASSERT) {
		put_effect(b, n, out);
	} else if (is_tuple(b, r)) {
		const char *text = node_expr(b, r).text;
		put_line(out, "", arena_printf(a, "%s = %s", assign_results(b, r, result_count(b, r), false), text));
	} else if (!is_tuple_result(b, r)) {
		const char *text = node_expr(b, r).text, *wanted = n->name;
		hir_ref result;
		if (!wanted && hir_calls(n->kind))
			wanted = result_name(b, r, 0, &result);
		if (hir_calls(n->kind) && returned_outputs(n->callee) == 0) {
			put_line(out, "", text);
		} else {
			b->vars[r] = new_variable(b, r, wanted);
			put_line(out, "", arena_printf(a, "%s = %s", b->vars[r], text));
		}
	}
	note_states_of_call(b, r);
	put_sizes(b, r, out);
}

static bool is_long(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	if (is_leaf(n) || hir_calls(n->kind) || is_state_result(b, n))
		return false;
	return strlen(text_plain(b->p->a, node_expr(b, r).text)) > LONG_EXPRESSION;
}

/* True for the only value that the function returns: its text may be long. */
static bool is_returned(const struct body *b, hir_ref r)
{
	for (uint32_t i = 0; i < b->u->n_outputs && returned_outputs(b->u) == 1; i++)
		if (b->u->outputs[i].node == r)
			return true;
	return false;
}

/* The new values of the states that the function changes itself. */
static void put_states(struct body *b, struct buf *out)
{
	for (uint32_t i = 0; i < b->u->n_outputs; i++)
		if (b->u->outputs[i].state)
			put_state(b, b->u->inputs[b->u->outputs[i].state - 1].name, b->u->outputs[i].node, out);
}

static void put_return(struct body *b, struct buf *out)
{
	const char *text = "";
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->u->n_outputs; i++)
		if (!b->u->outputs[i].state_only)
			text = arena_printf(b->p->a, "%s%s%s", text, n++ ? ", " : "", tensor_text(b, b->u->outputs[i].node));
	if (n)
		put_line(out, "", arena_printf(b->p->a, "return %s", text));
}

/* A function that changes states reads their old values first. */
static void put_old_states(struct body *b, struct buf *out)
{
	for (hir_ref r = 0; r < b->u->n_nodes && changes_states(b->u); r++) {
		const struct hir_node *n = &b->u->nodes[r];
		if (n->kind != HIR_INPUT || !b->u->inputs[n->index].state || !b->uses[r])
			continue;
		const char *path = b->u->inputs[n->index].name, *dot = strrchr(path, '.');
		b->vars[r] = new_variable(b, r, dot ? dot + 1 : path);
		put_line(out, "", arena_printf(b->p->a, "%s = %s", b->vars[r], b->inputs[n->index]));
	}
}

static void put_body(struct body *b, struct buf *out)
{
	memset(b->vars, 0, b->u->n_nodes * sizeof *b->vars);
	find_last_uses(b);
	b->held.len = 0;
	for (hir_ref r = 0; r < b->u->n_nodes; r++)
		if (b->u->nodes[r].kind == HIR_INPUT && b->u->inputs[b->u->nodes[r].index].state)
			held_at(b, b->u->inputs[b->u->nodes[r].index].name)->node = r;
	put_old_states(b, out);
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++) /* sizes of inputs, before a variable can replace them */
		if (b->sizes[s] && b->size_of[s] != HIR_NONE && is_leaf(&b->u->nodes[b->size_of[s]]))
			put_size(b, s, out);
	for (hir_ref r = 0; r < b->u->n_nodes; r++)
		if (b->uses[r] && !is_leaf(&b->u->nodes[r]) && !b->vars[r] &&
		    (needs_statement(b, r) || (!is_returned(b, r) && is_long(b, r))))
			put_node(b, r, out);
	put_states(b, out);
	put_return(b, out);
}

/* Finds for each size a node that has it as a dimension: an input if there is one. */
static void find_sizes(struct body *b)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		b->size_of[s] = HIR_NONE;
	for (hir_ref r = 0; r < b->u->n_nodes; r++) {
		const struct hir_node *n = &b->u->nodes[r];
		uint32_t sym;
		bool state = n->kind == HIR_INPUT && b->u->inputs[n->index].state;
		if ((!b->uses[r] && !state) || n->kind == HIR_CONST || n->kind == HIR_DIM || is_tuple(b, r))
			continue;
		for (uint32_t k = 0; k < n->type.rank; k++)
			if (dim_is_sym(b->u->dims, n->type.dims[k], &sym) && b->size_of[sym] == HIR_NONE) {
				b->size_of[sym] = r;
				b->size_dim[sym] = k;
			}
	}
}

/* The name of an argument; two inputs may have one name. */
static const char *new_argument(const struct body *b, uint32_t input, const char *wanted)
{
	const char *name = wanted;
	for (uint32_t i = 0, k = 2; i < input; i++)
		if (strcmp(b->inputs[i], name) == 0) {
			name = arena_printf(b->p->a, "%s%u", wanted, k++);
			i = UINT32_MAX; /* again from the first one */
		}
	return name;
}

static void body_open(struct body *b, struct printer *p, const struct body_spec *spec)
{
	const struct hir_unit *u = spec->unit;
	uint32_t syms = dims_syms(u->dims);
	*b = (struct body){.p = p,
			   .spec = spec,
			   .u = u,
			   .inputs = ARENA_ARRAY(p->a, const char *, u->n_inputs + 1),
			   .vars = ARENA_ARRAY(p->a, const char *, u->n_nodes + 1),
			   .uses = ARENA_ARRAY(p->a, uint32_t, u->n_nodes + 1),
			   .place = ARENA_ARRAY(p->a, hir_ref, u->n_nodes + 1),
			   .last = ARENA_ARRAY(p->a, hir_ref, u->n_nodes + 1),
			   .sizes = ARENA_ARRAY(p->a, const char *, syms + 1),
			   .size_of = ARENA_ARRAY(p->a, hir_ref, syms + 1),
			   .size_dim = ARENA_ARRAY(p->a, uint32_t, syms + 1),
			   .device = ""};
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		const char *name = u->inputs[i].name;
		bool own = !is_passed(u, i) || (spec->params && spec->params[i] != HIR_NONE);
		b->inputs[i] = own ? member_path(p->a, !spec->owner, name) : new_argument(b, i, function_argument(p->a, name));
		if (!own && !*b->device)
			b->device = arena_printf(p->a, "%s.device", b->inputs[i]);
	}
	count_uses(b);
	find_sizes(b);
}

/* Sets the sizes that callers pass, and appends them to the arguments. */
static void put_size_arguments(const struct body *b, struct method *m, bool any, struct buf *out)
{
	uint32_t *sizes = ARENA_ARRAY(b->p->a, uint32_t, dims_syms(b->u->dims) + 1);
	m->n_sizes = 0;
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++) {
		if (!b->sizes[s] || b->size_of[s] != HIR_NONE)
			continue;
		sizes[m->n_sizes++] = s;
		buf_printf(out, "%s%s", any ? ", " : "", b->sizes[s]);
		any = true;
	}
	m->sizes = sizes;
}

const char *print_function(struct printer *p, const struct body_spec *spec, struct method *m)
{
	struct body b;
	struct buf out = {0};
	body_open(&b, p, spec);
	put_body(&b, &out); /* finds which sizes it needs */
	buf_clear(&out);
	buf_printf(&out, "def %s(%s", spec->name, spec->owner ? "self" : "");
	bool any = spec->owner != NULL;
	for (uint32_t i = 0; !spec->owner && i < b.u->n_inputs; i++) {
		if (!is_layer_argument(b.u, i))
			continue;
		buf_printf(&out, "%s%s", any ? ", " : "", python_name(p->a, first_part(p->a, b.u->inputs[i].name)));
		any = true;
	}
	for (uint32_t i = 0; i < b.u->n_inputs; i++) {
		if (!is_passed(b.u, i) || (spec->params && spec->params[i] != HIR_NONE))
			continue;
		buf_printf(&out, "%s%s", any ? ", " : "", b.inputs[i]);
		any = true;
	}
	put_size_arguments(&b, m, any, &out);
	buf_puts(&out, "):\n");
	struct buf lines = {0};
	put_body(&b, &lines);
	const char *folded = fold_chains(p->a, lines.len ? lines.at : "");
	for (const char *line = folded; *line;) {
		size_t n = strcspn(line, "\n");
		buf_printf(&out, "    %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	if (!lines.len)
		buf_puts(&out, "    pass\n");
	const char *text = arena_strndup(p->a, out.at, out.len);
	vec_free(&b.held);
	buf_free(&lines);
	buf_free(&out);
	return text;
}

const char *print_initial(struct printer *p, const struct hir_unit *u)
{
	const struct body_spec spec = {.unit = u, .name = ""};
	struct body b;
	body_open(&b, p, &spec);
	return operand_text(&b, u->outputs[0].node, PREC_TERNARY);
}
