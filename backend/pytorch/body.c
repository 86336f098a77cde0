/* The statements of a function. */
#include <string.h>
#include "backend/pytorch/class.h"
#include "backend/pytorch/comment.h"
#include "backend/pytorch/expr.h"
#include "backend/pytorch/native.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"

enum { LONG_EXPRESSION = 56 };

/* ---- variables ---- */

/* True if another value that is needed after node r is in the variable. */
static bool body_is_taken(const struct body *b, const char *name, hir_ref r)
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
	for (uint32_t i = 0; i < b->p->file->methods.len; i++) /* a function that may be called */
		if (b->p->file->methods.at[i].name && strcmp(b->p->file->methods.at[i].name, name) == 0)
			return true;
	return b->device_used && strcmp(b->device, name) == 0;
}

const char *new_variable(struct body *b, hir_ref r, const char *wanted)
{
	const char *base = python_name(b->p->a, wanted ? wanted : "y"), *name = base;
	for (uint32_t i = 2; body_is_taken(b, name, r); i++)
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

void put_line(struct buf *out, const char *indent, const char *text) { buf_printf(out, "%s%s\n", indent, text); }

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

/* The text of a template without values: doubled braces become single ones. */
static const char *without_braces(struct arena *a, const char *template)
{
	char *text = arena_strdup(a, template), *to = text;
	for (const char *s = template; *s; s++) {
		s += *s == s[1] && (*s == '{' || *s == '}');
		*to++ = *s;
	}
	*to = 0;
	return text;
}

/* The text of print or of the message of an assert: an f-string, or format() if the text of a value has a quote, which no f-string before
 * Python 3.12 takes. */
static const char *message_text(struct body *b, const char *template, const struct hir_arg *values, uint32_t n)
{
	struct arena *a = b->p->a;
	if (!n)
		return python_string(a, without_braces(a, template));
	const char *text = python_string(a, template), *list = "", **value = ARENA_ARRAY(a, const char *, n);
	bool quoted = false;
	for (uint32_t i = 0; i < n; i++) {
		value[i] = operand_text(b, values[i].u.tensor, PREC_TERNARY);
		quoted = quoted || strpbrk(value[i], "\"'\\");
		list = arena_printf(a, "%s%s%s", list, i ? ", " : "", value[i]);
	}
	if (quoted)
		return arena_printf(a, "%s.format(%s)", text, list);
	struct buf out = {0};
	buf_putc(&out, 'f');
	for (const char *s = text; *s; s++) {
		buf_putc(&out, *s);
		if (*s == '{' && s[1] == '{')
			buf_putc(&out, *s++);
		else if (*s == '{')
			buf_puts(&out, *value++);
	}
	text = arena_strndup(a, out.at, out.len);
	buf_free(&out);
	return text;
}

static void put_effect(struct body *b, const struct hir_node *n, struct buf *out)
{
	struct arena *a = b->p->a;
	const struct hir_arg *x = &b->u->args[n->args];
	if (n->kind == HIR_ASSERT) {
		const char *message = message_text(b, x->u.s, x + 3, n->n_args - 3);
		put_line(out, "", arena_printf(a, "assert %s, %s", operand_text(b, x[2].u.tensor, PREC_TERNARY), message));
		return;
	}
	size_t len = strlen(x->u.s);
	bool ends = len && x->u.s[len - 1] == '\n'; /* Python's print ends the line itself */
	const char *text = message_text(b, arena_strndup(a, x->u.s, len - ends), x + 1, n->n_args - 1);
	put_line(out, "", arena_printf(a, "print(%s%s)", text, ends ? "" : ", end=\"\""));
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

/* The comment above the line of a place, once. */
static void put_comment_of(struct body *b, span at, struct buf *out)
{
	uint32_t line = at.source == b->u->at.source ? line_of(b->p, at) : UINT32_MAX;
	if (line == UINT32_MAX || line == b->commented)
		return;
	b->commented = line;
	buf_puts(out, comment_lines(b->p, comment_above(b->p, at)));
}

static void body_put_node(struct body *b, hir_ref r, struct buf *out)
{
	struct arena *a = b->p->a;
	const struct hir_node *n = &b->u->nodes[r];
	put_comment_of(b, n->at, out);
	put_states_of_call(b, n, out);
	if (n->kind == HIR_LOOP) {
		put_loop(b, r, out);
	} else if (n->kind == HIR_PRINT || n->kind == HIR_ASSERT) {
		put_effect(b, n, out);
	} else if (is_tuple(b, r)) {
		const char *text = node_expr(b, r).text;
		put_line(out, "", arena_printf(a, "%s = %s", assign_results(b, r, result_count(b, r), false), text));
	} else if (!is_tuple_result(b, r)) {
		const char *text = operand_expr(b, r).text, *wanted = n->name;
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

static bool body_is_long(struct body *b, hir_ref r)
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

void put_body(struct body *b, struct buf *out)
{
	memset(b->vars, 0, b->u->n_nodes * sizeof *b->vars);
	memset(b->exprs, 0, b->u->n_nodes * sizeof *b->exprs);
	find_last_uses(b);
	b->commented = line_of(b->p, b->u->at);
	states_begin(b, out);
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++) /* sizes of inputs, before a variable can replace them */
		if (b->sizes[s] && b->size_of[s] != HIR_NONE && is_leaf(&b->u->nodes[b->size_of[s]]))
			put_size(b, s, out);
	for (hir_ref r = 0; r < b->u->n_nodes; r++)
		if (b->uses[r] && !is_leaf(&b->u->nodes[r]) && !b->vars[r] &&
		    (needs_statement(b, r) || (!is_returned(b, r) && body_is_long(b, r))))
			body_put_node(b, r, out);
	put_states(b, out);
	put_return(b, out);
}
