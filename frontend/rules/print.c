/* print(values, label="x", sep=" ", end="\n") */
#include <string.h>
#include "frontend/rules/builtin.h"
#include "frontend/unit/text.h"

struct print_options {
	const char *label, *sep, *end; /* label: NULL if there is none */
};

static bool set_print_option(struct emitter *e, const struct arg *a, struct print_options *o)
{
	const char *name = name_text(e->f, a->name);
	const char **option = !strcmp(name, "label") ? &o->label : !strcmp(name, "sep") ? &o->sep : !strcmp(name, "end") ? &o->end : NULL;
	if (!option) {
		struct diag *g = report_error(e, DIAG_ARG_NAME, a->name_at, "`print` has no argument `%s`", name);
		diag_note(e->report.out, g, "the signature is `print(values, …, label=none, sep=\" \", end=\"\\n\")`");
		return false;
	}
	if (a->v.kind != V_STR)
		return report_false(e, DIAG_TYPE_MISMATCH, a->at, "`%s` must be a string known at compile time, not %s", name,
				    value_text(e, a->v));
	*option = a->v.u.s;
	return true;
}

struct value call_print(struct emitter *e, struct args *args, span at)
{
	struct text_builder t = {.e = e};
	struct print_options o = {.sep = " ", .end = "\n"};
	bool ok = true, first = true;
	for (uint32_t i = 0; i < args->n; i++)
		if (args->at[i].name && !is_poison(args->at[i].v))
			ok = set_print_option(e, &args->at[i], &o) && ok;
	if (o.label) {
		text_put(&t, o.label);
		text_put(&t, ": ");
	}
	for (uint32_t i = 0; i < args->n; i++) {
		if (args->at[i].name)
			continue;
		if (!first)
			text_put(&t, o.sep);
		struct text_format format = no_text_format;
		format.at = args->at[i].at;
		text_put_value(&t, args->at[i].v, &format);
		first = false;
	}
	text_put(&t, o.end);
	struct value text = text_finish(&t, at);
	if (ok && !e->checking && !is_poison(text))
		emit_text_effect(e, HIR_PRINT, text, NULL, 0, at);
	return (struct value){.kind = V_VOID};
}
