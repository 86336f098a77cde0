/* Strings that are made of values: f-strings, str, print, messages of assertions. What is known at compile time is written at once; run-time
 * values stay as places in a template, which base/format.h fills in when the program runs. */
#include <math.h>
#include <string.h>
#include "base/format.h"
#include "frontend/syntax/literal.h"
#include "frontend/types/sig.h"
#include "frontend/unit/elab.h"

_Static_assert((int)DT_BOOL == (int)FORMAT_BOOL && (int)DT_INT64 == (int)FORMAT_INT64 && (int)DT_FLOAT64 == (int)FORMAT_FLOAT64,
	       "the same numbers");

enum { MAX_VALUES = 60 }; /* that the runtime of a library takes in one call */

static const struct ast *tree(struct elab *e) { return &e->frame->mod->ast; }

/* Text under construction: as a template, and plain as long as nothing of run time is in it. */
struct text_builder {
	struct elab *e;
	struct buf template, plain;
	VEC(hir_ref) values;
	bool poison;
};
struct spec {
	const char *text; /* "" if there is none */
	size_t n;
	struct format_spec parsed;
	span at;
};

static const struct spec no_spec = {.text = "", .parsed = {.precision = -1}};

static void put_text(void *ctx, const char *s, size_t n)
{
	struct text_builder *t = ctx;
	buf_put(&t->plain, s, n);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '{' || s[i] == '}')
			buf_putc(&t->template, s[i]);
		buf_putc(&t->template, s[i]);
	}
}

static void put(struct text_builder *t, const char *s) { put_text(t, s, strlen(s)); }

static void put_run_time(struct text_builder *t, hir_ref r, const struct spec *spec)
{
	vec_push(&t->values, r);
	buf_puts(&t->template, "{");
	if (spec->n) {
		buf_putc(&t->template, ':');
		buf_put(&t->template, spec->text, spec->n);
	}
	buf_puts(&t->template, "}");
}

static bool spec_fits(struct text_builder *t, const struct spec *spec, enum format_class class)
{
	const char *why = spec->n ? format_check(&spec->parsed, class) : NULL;
	if (why) {
		elab_error(t->e, DIAG_BAD_FSTRING, spec->at, "the format `:%.*s` does not fit the value: %s", (int)spec->n, spec->text,
			   why);
		t->poison = true;
	}
	return !why;
}

static void put_value(struct text_builder *t, struct value v, const struct spec *spec, bool nested);

static void put_seq(struct text_builder *t, struct value v, const struct spec *spec)
{
	bool list = v.kind == V_LIST;
	put(t, list ? "[" : "(");
	for (uint32_t i = 0; i < v.u.seq->n && !t->poison; i++) {
		if (i)
			put(t, ", ");
		put_value(t, v.u.seq->at[i], spec, true);
	}
	put(t, list ? "]" : v.u.seq->n == 1 ? ",)" : ")");
}

static void put_range(struct text_builder *t, const struct range *r, const struct spec *spec)
{
	put_value(t, r->from, spec, true);
	put(t, "..");
	put_value(t, r->to, spec, true);
	if (r->step != 1) {
		put(t, ":");
		put_value(t, value_int(r->step), spec, true);
	}
}

static void put_string(struct text_builder *t, const char *s, const struct spec *spec, bool nested)
{
	struct format_out out = {put_text, t};
	if (nested)
		put(t, "\"");
	if (spec_fits(t, spec, FORMAT_CLASS_STR))
		format_str(&spec->parsed, s, strlen(s), &out);
	if (nested)
		put(t, "\"");
}

/* Names of layers, functions, types. */
static void put_name(struct text_builder *t, struct value v, const struct spec *spec)
{
	struct buf b = {0};
	value_print(t->e->f, t->e->b->dims, v, &b);
	put_string(t, b.at ? b.at : "", spec, false);
	buf_free(&b);
}

/* A template of another string with run-time values goes in as it is. */
static void put_template(struct text_builder *t, const struct text *text, const struct spec *spec)
{
	if (spec->n) {
		elab_error(t->e, DIAG_BAD_FSTRING, spec->at, "a string with run-time values takes no format");
		t->poison = true;
	}
	buf_puts(&t->template, text->template);
	for (uint32_t i = 0; i < text->values.u.seq->n; i++)
		vec_push(&t->values, text->values.u.seq->at[i].u.t);
}

static void put_tensor(struct text_builder *t, hir_ref r, const struct spec *spec)
{
	if (t->e->naming) {
		put(t, elab_type_text(t->e, r));
		return;
	}
	if (spec_fits(t, spec, format_class((enum format_elem)type_of(t->e, r)->elem)))
		put_run_time(t, r, spec);
}

/* As the element that a tensor with it would hold, unless a float32 cannot. */
static void put_float(const struct format_spec *spec, struct value v, struct format_out *out)
{
	double d = v.u.f;
	enum format_elem elem = (enum format_elem)scalar_type(v);
	bool fits = elem != FORMAT_FLOAT32 || !isfinite(d) || d == 0 || (isfinite((float)d) && (float)d != 0);
	if (elem == FORMAT_FLOAT32 && fits)
		d = (double)(float)d;
	format_float(spec, d, fits ? elem : FORMAT_FLOAT64, out);
}

static void put_dim(struct text_builder *t, struct value v, const struct spec *spec)
{
	if (t->e->naming)
		put_name(t, v, &no_spec);
	else
		put_tensor(t, emit_dim(t->e, v.u.d, spec->at), spec);
}

static void put_value(struct text_builder *t, struct value v, const struct spec *spec, bool nested)
{
	struct format_out out = {put_text, t};
	switch (v.kind) {
	case V_POISON: t->poison = true; break;
	case V_INT:
	case V_TRIT:
		if (spec_fits(t, spec, FORMAT_CLASS_INT))
			format_int(&spec->parsed, v.u.i, &out);
		break;
	case V_FLOAT:
		if (spec_fits(t, spec, FORMAT_CLASS_FLOAT))
			put_float(&spec->parsed, v, &out);
		break;
	case V_BOOL:
		if (spec_fits(t, spec, FORMAT_CLASS_BOOL))
			format_bool(&spec->parsed, v.u.b, &out);
		break;
	case V_STR: put_string(t, v.u.s, spec, nested); break;
	case V_TEXT: put_template(t, v.u.text, spec); break;
	case V_TUPLE:
	case V_LIST: put_seq(t, v, spec); break;
	case V_RANGE: put_range(t, v.u.range, spec); break;
	case V_DIM: put_dim(t, v, spec); break;
	case V_TENSOR: put_tensor(t, v.u.t, spec); break;
	default: put_name(t, v, spec); break;
	}
}

/* V_STR or V_TEXT; empties the builder. */
static struct value finish(struct text_builder *t, span at)
{
	struct value v = VALUE_POISON;
	if (!t->poison && !t->values.len) {
		v = elab_string(t->e, t->plain.at ? t->plain.at : "", t->plain.len, at);
	} else if (!t->poison) {
		struct text *text = ARENA_NEW(t->e->f->arena, struct text);
		text->template = elab_string(t->e, t->template.at, t->template.len, at).u.s;
		text->values = value_seq(t->e->f->arena, V_TUPLE, t->values.len);
		for (uint32_t i = 0; i < t->values.len; i++)
			text->values.u.seq->at[i] = value_tensor(t->values.at[i]);
		v = t->e->gave_up ? VALUE_POISON : (struct value){.kind = V_TEXT, .u.text = text};
	}
	buf_free(&t->template);
	buf_free(&t->plain);
	vec_free(&t->values);
	return v;
}

struct value values_to_text(struct elab *e, const struct value *v, uint32_t n, span at)
{
	struct text_builder t = {.e = e};
	for (uint32_t i = 0; i < n; i++)
		put_value(&t, v[i], &no_spec, false);
	return finish(&t, at);
}

/* ---- f-strings ---- */

/* What stands between an expression's end and the next text: `=` and a format. */
static struct spec interpolation_spec(struct text_builder *t, node_id expr)
{
	const struct tokens *tokens = &tree(t->e)->tokens;
	token_id after = ast_last_token(tree(t->e), expr) + 1;
	struct spec s = no_spec;
	s.at = elab_span(t->e, expr);
	if (token_kind(tokens, after) == TOK_ASSIGN) {
		span next = token_span(tokens, ++after);
		put_text(t, tokens->src->text + s.at.start, next.start - s.at.start);
	}
	if (token_kind(tokens, after) != TOK_FSTR_SPEC)
		return s;
	s.text = token_text(tokens, after) + 1;
	s.n = token_len(tokens, after) - 1;
	s.at = token_span(tokens, after);
	const char *why = format_parse(s.text, s.n, &s.parsed);
	if (why) {
		struct diag *g = elab_error(t->e, DIAG_BAD_FSTRING, s.at, "%s", why);
		diag_note(t->e->out, g,
			  "a format is [[fill]align][sign][#][0][width][, or _][.precision][type], as in `:.3f`, `:>8`, `:04d`, `:,`");
		t->poison = true;
	}
	return s;
}

struct value eval_fstring(struct elab *e, node_id n)
{
	struct ast_fstring fs = ast_fstring(tree(e), n);
	struct text_builder t = {.e = e};
	size_t len;
	for (uint32_t i = 0; i <= fs.n; i++) {
		const char *text = literal_string(&tree(e)->tokens, fs.texts[i], e->f->arena, &len);
		put_text(&t, text, len);
		if (i == fs.n)
			break;
		struct spec spec = interpolation_spec(&t, fs.exprs[i]);
		struct value v = eval(e, fs.exprs[i]);
		put_value(&t, v, &spec, false);
	}
	return finish(&t, elab_span(e, n));
}

/* ---- print and assert ---- */

static void emit_text_effect(struct elab *e, enum hir_kind kind, struct value text, struct hir_arg *lead, uint32_t n_lead, span at)
{
	uint32_t n = text.kind == V_TEXT ? text.u.text->values.u.seq->n : 0;
	if (n > MAX_VALUES) {
		elab_error(e, DIAG_ARG_COUNT, at, "more than %d run-time values in one text", MAX_VALUES);
		return;
	}
	struct hir_arg *args = ARENA_ARRAY(e->f->arena, struct hir_arg, n_lead + n + 1);
	const char *template = text.kind == V_TEXT ? text.u.text->template : "";
	if (text.kind == V_STR) {
		struct text_builder t = {.e = e};
		put(&t, text.u.s);
		template = arena_strndup(e->f->arena, t.template.at ? t.template.at : "", t.template.len);
		finish(&t, at);
	}
	args[0] = (struct hir_arg){.kind = ARG_STR, .u.s = template};
	for (uint32_t i = 0; i < n_lead; i++)
		args[1 + i] = lead[i];
	for (uint32_t i = 0; i < n; i++)
		args[1 + n_lead + i] = arg_tensor(text.u.text->values.u.seq->at[i].u.t);
	emit_effect(e, kind, args, 1 + n_lead + n, at);
}

struct print_options {
	const char *label, *sep, *end; /* label: NULL if there is none */
};

static bool print_option(struct elab *e, const struct arg *a, struct print_options *o)
{
	const char *name = name_text(e->f, a->name);
	const char **option = !strcmp(name, "label") ? &o->label : !strcmp(name, "sep") ? &o->sep : !strcmp(name, "end") ? &o->end : NULL;
	if (!option) {
		struct diag *g = elab_error(e, DIAG_ARG_NAME, a->name_at, "`print` has no argument `%s`", name);
		diag_note(e->out, g, "it is `print(values, …, label=none, sep=\" \", end=\"\\n\")`");
		return false;
	}
	if (a->v.kind != V_STR) {
		elab_error(e, DIAG_TYPE_MISMATCH, a->at, "`%s` must be a string known at compile time, not %s", name,
			   elab_value_text(e, a->v));
		return false;
	}
	*option = a->v.u.s;
	return true;
}

struct value call_print(struct elab *e, struct args *args, span at)
{
	struct text_builder t = {.e = e};
	struct print_options o = {.sep = " ", .end = "\n"};
	bool ok = true, first = true;
	for (uint32_t i = 0; i < args->n; i++)
		if (args->at[i].name && !is_poison(args->at[i].v))
			ok = print_option(e, &args->at[i], &o) && ok;
	if (o.label) {
		put(&t, o.label);
		put(&t, ": ");
	}
	for (uint32_t i = 0; i < args->n; i++) {
		if (args->at[i].name)
			continue;
		if (!first)
			put(&t, o.sep);
		struct spec spec = no_spec;
		spec.at = args->at[i].at;
		put_value(&t, args->at[i].v, &spec, false);
		first = false;
	}
	put(&t, o.end);
	struct value text = finish(&t, at);
	if (ok && !e->checking && !is_poison(text))
		emit_text_effect(e, HIR_PRINT, text, NULL, 0, at);
	return (struct value){.kind = V_VOID};
}

/* "net.tri:7" */
static const char *place(struct elab *e, span at)
{
	struct position pos = source_position(e->f->sources, at.source, at.start);
	return arena_printf(e->f->arena, "%s:%u", sources_get(e->f->sources, at.source)->path, pos.line);
}

static void emit_assert(struct elab *e, hir_ref cond, struct value message, span at)
{
	struct hir_arg lead[] = {{.kind = ARG_STR, .u.s = place(e, at)}, arg_tensor(cond)};
	emit_text_effect(e, HIR_ASSERT, message, lead, 2, at);
}

void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at)
{
	struct arg two[] = {{.v = given, .at = at}, {.v = size, .at = at}};
	struct args args = {2, two};
	struct value same = call_builtin(e, BI_EQ, &args, at);
	struct text_builder t = {.e = e};
	put(&t, arena_printf(e->f->arena, "argument `%s` is ", name));
	put_value(&t, given, &no_spec, false);
	put(&t, ", but the dimension of its name is ");
	put_value(&t, size, &no_spec, false);
	if (same.kind == V_TENSOR)
		emit_assert(e, same.u.t, finish(&t, at), at);
}

/* Of the first tensor among the arguments of the library's function: the expression that gives it, in the call or bound to a local before. */
static void label_argument(struct elab *e, struct diag *g)
{
	uint32_t arg = e->frame->base, i;
	while (arg < e->locals.len && e->locals.at[arg].value.kind != V_TENSOR)
		arg++;
	if (arg == e->locals.len)
		return;
	const struct local *l = &e->locals.at[arg];
	for (i = e->frame->base; i-- > 0;)
		if (e->locals.at[i].value.kind == V_TENSOR && e->locals.at[i].value.u.t == l->value.u.t)
			break;
	span at = i == UINT32_MAX ? l->at : e->locals.at[i].at, call = g->primary.at;
	if (at.source != call.source || at.end <= at.start || (at.start <= call.start && at.end >= call.end))
		elab_label_origin(e, g, e->b, l->value.u.t, call);
	else if (*elab_source_text(e, at))
		diag_secondary(e->out, g, at, "this is a %s", elab_type_text(e, l->value.u.t));
}

/* An assertion of the standard library speaks of the call: about a shape, or about a value. */
static enum diag_code assert_code(struct elab *e, span cond)
{
	const char *text = elab_source_text(e, cond);
	if (!e->frame->mod->std)
		return DIAG_ASSERT_FAILED;
	return strstr(text, ".shape") || strstr(text, ".rank") ? DIAG_ARG_SHAPE : DIAG_ARG_VALUE;
}

static enum flow leaves_here(struct elab *e)
{
	e->frame->result = VALUE_POISON;
	e->frame->returned = true;
	return FLOW_RETURN;
}

static enum flow fails_now(struct elab *e, span cond, const char *message)
{
	e->std_speaks = e->frame->mod->std && message;
	struct diag *g = elab_error(e, assert_code(e, cond), cond, "%s", message ? message : "the assertion fails");
	e->std_speaks = false;
	if (g->primary.at.start == cond.start)
		diag_label_primary(e->out, g, "is false");
	if (e->checking && e->frame->mod->std)
		label_argument(e, g);
	if (e->checking && !e->frame->mod->std)
		return FLOW_NEXT;
	return leaves_here(e); /* what follows relies on it */
}

/* assert(c, "m") is assert c, "m" */
static void assert_parts(struct elab *e, node_id n, node_id *cond, node_id *message)
{
	*cond = ast_a(tree(e), n);
	*message = ast_b(tree(e), n);
	if (*message || ast_kind(tree(e), *cond) != NODE_TUPLE)
		return;
	struct ast_nodes parts = ast_nodes(tree(e), ast_a(tree(e), *cond));
	if (parts.n == 2) {
		*cond = parts.at[0];
		*message = parts.at[1];
	}
}

/* The message; V_NONE if there is none. */
static struct value assert_message(struct elab *e, node_id n, bool naming)
{
	if (!n)
		return (struct value){.kind = V_NONE};
	bool before = e->naming;
	e->naming = naming;
	struct value m = eval(e, n);
	e->naming = before;
	if (m.kind == V_STR || m.kind == V_TEXT || is_poison(m))
		return m;
	elab_error(e, DIAG_TYPE_MISMATCH, elab_span(e, n), "the message of an assertion is a string, not %s", elab_value_text(e, m));
	return VALUE_POISON;
}

enum flow exec_assert(struct elab *e, node_id n)
{
	node_id cond, msg;
	assert_parts(e, n, &cond, &msg);
	struct value c = eval(e, cond);
	span at = elab_span(e, cond);
	bool run_time = c.kind == V_TENSOR && type_of(e, c.u.t)->elem == DT_BOOL && !type_of(e, c.u.t)->rank;
	run_time = run_time || (c.kind == V_BOOL && !c.u.b && (e->unsure || perhaps_run(e)));
	int known = run_time ? 0 : condition(e, c, at, true);
	if (!run_time && known)
		return FLOW_NEXT;
	struct value m = assert_message(e, msg, !run_time);
	if (e->checking && ast_kind(tree(e), cond) == NODE_FALSE) /* a way that no use may take */
		return leaves_here(e);
	if (!run_time)
		return fails_now(e, at, m.kind == V_STR ? m.u.s : NULL);
	if (!e->checking && !is_poison(m))
		emit_assert(e, c.kind == V_TENSOR ? c.u.t : emit_scalar(e, c, DT_BOOL, at), m, at);
	return FLOW_NEXT;
}

struct value text_with(struct elab *e, const struct text *old, struct value values)
{
	struct text *text = ARENA_NEW(e->f->arena, struct text);
	*text = (struct text){old->template, values};
	return (struct value){.kind = V_TEXT, .u.text = text};
}
