/* Signatures of builtins, and the binding of arguments to parameters. */
#include "frontend/rules/builtin.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "frontend/habits/habits.h"

static const struct {
	const char *name, *sig, *operands;
	builtin_rule *rule;
} table[BI_COUNT] = {
#define BUILTIN(id, name, sig, operands, rule, help) [BI_##id] = {name, sig, operands, rule_##rule},
#include "frontend/hir/builtins.def"
#undef BUILTIN
};

/* ---- signatures ---- */

static struct value parse_default(struct frontend *f, const char *s, size_t n)
{
	char text[32] = {0};
	char *end;
	memcpy(text, s, n < 31 ? n : 31);
	if (!strcmp(text, "none"))
		return (struct value){.kind = V_NONE};
	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return value_bool(*text == 't');
	if (*text == '"')
		return value_str(arena_strndup(f->arena, text + 1, strlen(text) - 2));
	if (dtype_find(text) != DT_COUNT)
		return (struct value){.kind = V_DTYPE, .u.dt = dtype_find(text)};
	if (strchr(text, '.') || strchr(text, 'e'))
		return value_float(strtod(text, NULL));
	return value_int(strtoll(text, &end, 10));
}

static void parse_sig(struct frontend *f, struct builtin_sig *s, enum builtin bi)
{
	const char *p = table[bi].sig;
	bool by_name = false;
	*s = (struct builtin_sig){.name = table[bi].name, .text = p, .operands = table[bi].operands};
	while (*p) {
		size_t len = strcspn(p, ",");
		if (len == 1 && *p == '*') {
			by_name = true;
			p += strspn(p, "*, ");
			continue;
		}
		const char *eq = memchr(p, '=', len);
		struct builtin_param *q = &s->params[s->n_all++];
		s->n += !by_name;
		q->variadic = *p == '*';
		const char *name = p + q->variadic;
		q->name = intern(f->names, name, (size_t)((eq ? eq : p + len) - name));
		q->required = !eq;
		q->standard = eq ? parse_default(f, eq + 1, (size_t)(p + len - eq - 1)) : (struct value){.kind = V_NONE};
		if (by_name && !strcmp(name_text(f, q->name), "dtype"))
			s->dtype = s->n_all - 1;
		p += len;
		p += strspn(p, ", ");
	}
}

void builtin_sigs_init(struct frontend *f)
{
	f->elab.builtin_sigs = ARENA_ARRAY(f->arena, struct builtin_sig, BI_COUNT);
	for (int i = 0; i < BI_COUNT; i++)
		parse_sig(f, &f->elab.builtin_sigs[i], (enum builtin)i);
}

/* ---- binding ---- */

/* Further names of parameters in PyTorch. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{"axis", "dim"},
	{"keepdims", "keepdim"},
	{"unbiased", "correction"},
	{"input", "x"},
	{"size", "shape"},
	{"fill_value", "value"},
	{"split_size_or_sections", "split_size"},
	{"vec2", "other"},
	{"query", "q"},
	{"key", "k"},
	{"value", "v"},
	{"attn_mask", "mask"},
	{"is_causal", "causal"},
	{"theta", "base"},
	{"num", "steps"},
	{"weight", "w"},
	{"x", "t"},
	{"threshold", "pos_threshold"},
};

static int find_named_param(struct emitter *e, const struct builtin_sig *s, name_id name)
{
	const char *text = name_text(e->f, name), *other = "";
	for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++)
		if (!strcmp(text, aliases[k].alias))
			other = aliases[k].name;
	for (uint32_t i = 0; i < s->n_all; i++)
		if (s->params[i].name == name || !strcmp(name_text(e->f, s->params[i].name), other))
			return (int)i;
	return -1;
}

static bool builtin_report_name(struct emitter *e, const struct builtin_sig *s, const struct arg *a)
{
	const char *names[BUILTIN_MAX_PARAMS];
	for (uint32_t i = 0; i < s->n_all; i++)
		names[i] = name_text(e->f, s->params[i].name);
	struct diag *g = report_error(e, DIAG_ARG_NAME, a->name_at, "`%s` has no argument `%s`", s->name, name_text(e->f, a->name));
	diag_note(e->report.out, g, "the signature is `%s(%s)`", s->name, s->text);
	argument_help(e->report.out, g, a->name_at, name_text(e->f, a->name), names, s->n_all);
	return false;
}

static bool set_argument(struct emitter *e, struct builtin_call *c, uint32_t i, const struct arg *a)
{
	if (c->given[i]) {
		struct diag *g =
			report_error(e, DIAG_ARG_TWICE, a->at, "argument `%s` of `%s` is given twice", arg_name(e, c, i), c->sig->name);
		if (c->bi == BI_CONCAT || c->bi == BI_STACK)
			diag_help(e->report.out, g, "pass the tensors as a list: `%s([a, b], dim=1)`", c->sig->name);
		return false;
	}
	c->given[i] = true;
	c->named[i] = a->name != 0;
	c->v[i] = a->v;
	c->ats[i] = a->at;
	return true;
}

static bool is_variadic_item(struct value v) { return value_is_scalar(v) || v.kind == V_TENSOR; }

/* reshape(x, 2, 3), einsum("i,j", a, b): collects the numbers or tensors from argument `from` on into one list. Returns their number. */
static uint32_t set_variadic(struct emitter *e, struct builtin_call *c, uint32_t i, struct args *args, uint32_t from)
{
	uint32_t n = 0;
	bool poison = false;
	while (from + n < args->n && !args->at[from + n].name &&
	       (is_variadic_item(args->at[from + n].v) || is_poison(args->at[from + n].v)))
		n++;
	struct arg all = args->at[from];
	all.v = value_seq(e->f->arena, V_LIST, n);
	for (uint32_t k = 0; k < n; k++) {
		all.v.u.seq->at[k] = args->at[from + k].v;
		poison = poison || is_poison(args->at[from + k].v);
	}
	if (poison)
		all.v = VALUE_POISON;
	if (n)
		all.at.end = args->at[from + n - 1].at.end;
	set_argument(e, c, i, &all);
	return n;
}

static bool report_too_many(struct emitter *e, struct builtin_call *c, const struct arg *a)
{
	struct diag *g = report_error(e, DIAG_ARG_COUNT, a->at, "too many arguments for `%s`", c->sig->name);
	diag_note(e->report.out, g, "the signature is `%s(%s)`", c->sig->name, c->sig->text);
	return false;
}

static bool builtin_report_missing(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	struct diag *g = report_error(e, DIAG_ARG_COUNT, c->at, "`%s` needs argument `%s`", c->sig->name, arg_name(e, c, i));
	diag_note(e->report.out, g, "the signature is `%s(%s)`", c->sig->name, c->sig->text);
	return false;
}

/* Checks an argument after `*`: an element type, or a bool or number as its default, which may be known only at run time. */
static bool check_named_argument(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	dtype t;
	if (i == c->sig->dtype)
		return c->v[i].kind == V_NONE || need_dtype(e, c, i, &t);
	struct value v = c->v[i];
	bool want_bool = c->sig->params[i].standard.kind == V_BOOL;
	if (v.kind == V_TENSOR ? (dtype_class(type_of(e, v.u.t)->elem) == DTC_BOOL) == want_bool
			       : v.kind == V_NONE || (value_is_scalar(v) && (v.kind == V_BOOL) == want_bool))
		return true;
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[i], "argument `%s` of `%s` must be %s, not %s", arg_name(e, c, i),
				      c->sig->name, want_bool ? "true or false" : "a number", value_text(e, v));
	diag_note(e->report.out, g, "the signature is `%s(%s)`", c->sig->name, c->sig->text);
	return false;
}

static bool bind_arguments(struct emitter *e, struct builtin_call *c, struct args *args)
{
	uint32_t pos = 0;
	for (uint32_t i = 0; i < args->n; i++) {
		struct arg *a = &args->at[i];
		int k = a->name ? find_named_param(e, c->sig, a->name) : (int)pos;
		if (k < 0)
			return builtin_report_name(e, c->sig, a);
		if ((uint32_t)k >= (a->name ? c->sig->n_all : c->sig->n))
			return report_too_many(e, c, a);
		bool more = i + 1 < args->n && !a[1].name; /* poison may be a list, but not before another size */
		if (!a->name && c->sig->params[k].variadic && (is_variadic_item(a->v) || (more && is_poison(a->v))))
			i += set_variadic(e, c, (uint32_t)k, args, i) - 1;
		else if (!set_argument(e, c, (uint32_t)k, a) ||
			 ((uint32_t)k >= c->sig->n && !is_poison(a->v) && !check_named_argument(e, c, (uint32_t)k)))
			return false;
		pos += !a->name;
	}
	for (uint32_t i = 0; i < c->sig->n; i++) {
		if (c->given[i])
			continue;
		if (c->sig->params[i].required && !c->sig->params[i].variadic)
			return builtin_report_missing(e, c, i);
		c->v[i] = c->sig->params[i].variadic ? value_seq(e->f->arena, V_LIST, 0) : c->sig->params[i].standard;
		c->ats[i] = c->at;
	}
	return true;
}

/* The element type that `dtype` asks for; DT_COUNT: none. */
static dtype wanted_type(const struct builtin_call *c)
{
	uint32_t i = c->sig->dtype;
	return i && c->given[i] && c->v[i].kind == V_DTYPE ? c->v[i].u.dt : DT_COUNT;
}

/* Converts the first operand to `dtype`. False: reported. */
static bool convert_operand(struct emitter *e, struct builtin_call *c)
{
	dtype t = wanted_type(c);
	if (t == DT_COUNT)
		return true;
	bool floats = tolower((unsigned char)*c->sig->operands) == 'f' || c->bi == BI_MEAN, is_float = dtype_class(t) == DTC_FLOAT;
	if (!is_float && (floats || dtype_class(t) != DTC_INT))
		return report_false(e, DIAG_ARG_VALUE, c->ats[c->sig->dtype], "`dtype` of `%s` must be a type of %s, not %s", c->sig->name,
				    floats ? "floats" : "numbers", dtype_text(t));
	hir_ref x = need_tensor(e, c, 0);
	if (x != HIR_NONE)
		c->v[0] = value_tensor(emit_cast(e, x, t, c->ats[0]));
	return x != HIR_NONE;
}

/* Loads the operands that builtins.def gives a kind. False: reported. */
static bool builtin_load_operands(struct emitter *e, struct builtin_call *c)
{
	bool ok = convert_operand(e, c);
	for (uint32_t i = 0; ok && c->sig->operands[i]; i++) {
		char given = c->sig->operands[i], kind = (char)tolower((unsigned char)given);
		if (kind == '-')
			continue;
		if (given != kind && need_vector(e, c, i) == HIR_NONE)
			return false;
		c->operand[i] = kind == 't' ? need_tensor(e, c, i) : kind == 'f' ? need_float(e, c, i) : need_wide_float(e, c, i);
		ok = c->operand[i] != HIR_NONE;
	}
	return ok;
}

/* Makes scalars of results with one element: of a call whose operand was a scalar. */
static struct value as_scalars(struct emitter *e, struct value v, span at)
{
	int64_t n;
	for (uint32_t k = 0; v.kind == V_TUPLE && k < v.u.seq->n; k++)
		v.u.seq->at[k] = as_scalars(e, v.u.seq->at[k], at);
	if (v.kind != V_TENSOR)
		return v;
	struct hir_type t = *type_of(e, v.u.t);
	if (t.rank != 1 || !dim_is_const(e->b->dims, t.dims[0], &n) || n != 1)
		return v;
	t.rank = 0;
	return emit_reshape(e, v.u.t, &t, at);
}

/* An argument as the call gives it. False: it is no tensor, number, string or list of these. */
static bool written_arg(struct emitter *e, struct value v, struct hir_arg *out)
{
	switch (v.kind) {
	case V_NONE: *out = arg_none(); return true;
	case V_TENSOR: *out = arg_tensor(v.u.t); return true;
	case V_DIM: *out = arg_dim(v.u.d); return true;
	case V_TRIT: *out = arg_int(v.u.i); return true;
	case V_INT:
	case V_BOOL:
	case V_FLOAT:
	case V_STR: *out = plain_arg(v); return true;
	case V_TUPLE:
	case V_LIST: break;
	default: return false;
	}
	struct hir_arg *items = ARENA_ARRAY(e->temp, struct hir_arg, v.u.seq->n + 1);
	for (uint32_t i = 0; i < v.u.seq->n; i++)
		if (!written_arg(e, v.u.seq->at[i], &items[i]))
			return false;
	*out = arg_list(e, items, v.u.seq->n);
	return true;
}

/* The node from `first` on that has the results of a call; HIR_NONE: none has them all. */
static hir_ref result_node(struct emitter *e, hir_ref first, struct value out)
{
	if (out.kind == V_TUPLE && out.u.seq->n && out.u.seq->at[0].kind == V_TENSOR) {
		const struct hir_node *n = node_at(e, out.u.seq->at[0].u.t);
		return n->kind == HIR_RESULT && n->source >= first ? n->source : HIR_NONE;
	}
	return out.kind == V_TENSOR && out.u.t >= first ? out.u.t : HIR_NONE;
}

/* Notes the call as the source writes it on the node of its results. */
static void note_written(struct emitter *e, const struct builtin_call *c, hir_ref first, struct value out)
{
	struct hir_arg args[BUILTIN_MAX_PARAMS];
	hir_ref r = e->checking ? HIR_NONE : result_node(e, first, out); /* what a check makes is not printed */
	if (r == HIR_NONE || wanted_type(c) != DT_COUNT)
		return;
	for (uint32_t i = c->sig->n; i < c->sig->n_all; i++)
		if (c->given[i]) /* it is no argument of the node, but may have made further ones */
			return;
	for (uint32_t i = 0; i < c->sig->n; i++)
		if (!written_arg(e, c->v[i], &args[i]))
			return;
	struct hir_node *n = node_at(e, r);
	n->written = c->bi;
	n->n_written = c->sig->n;
	n->written_args = e->b->args.len;
	for (uint32_t i = 0; i < c->sig->n; i++)
		vec_push(&e->b->args, args[i]);
}

struct value call_builtin(struct emitter *e, enum builtin bi, struct args *args, span at)
{
	struct builtin_call c = {.bi = bi, .at = at, .sig = &e->f->elab.builtin_sigs[bi]};
	struct value out;
	bool unknown = false;
	e->report.steps += 4;
	for (uint32_t i = 0; i < args->n; i++)
		unknown = unknown || value_contains(args->at[i].v, V_POISON);
	if (!unknown && evaluate_builtin(e, bi, args, at, &out))
		return out;
	if (!bind_arguments(e, &c, args) || unknown)
		return VALUE_POISON;
	uint32_t errors = e->report.errors;
	hir_ref first = e->b->nodes.len;
	out = builtin_load_operands(e, &c) ? table[bi].rule(e, &c) : VALUE_POISON;
	if (c.scalar)
		out = as_scalars(e, out, at);
	if (wanted_type(&c) != DT_COUNT)
		out = as_elem(e, out, wanted_type(&c), at);
	note_written(e, &c, first, out);
	if (dims_overflowed(e->b->dims) && e->report.errors == errors)
		return report_poison(e, DIAG_CONST_ARITH, at, "`%s`: the sizes overflow 64 bits or are too complicated", c.sig->name);
	return out;
}
