/* Attributes: reports unknown ones and wrong arguments. */
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habits.h"
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"
#include "frontend/syntax/literal.h"

enum takes { TAKES_NOTHING, TAKES_TEXT, TAKES_LEVEL };
static const struct attribute {
	enum takes takes;
	enum attribute_place place;
	const char *written;
} attributes[] = {
#define ATTRIBUTE(name, takes, place, written) {TAKES_##takes, BEFORE_##place, written},
#include "frontend/names/attributes.def"
#undef ATTRIBUTE
};
static const char *const names[] = {
#define ATTRIBUTE(name, takes, place, written) #name,
#include "frontend/names/attributes.def"
#undef ATTRIBUTE
};
enum { KNOWN = sizeof names / sizeof *names };

static bool is_level(struct resolver *r, struct ast_nodes args)
{
	uint64_t level;
	return args.n == 1 && ast_kind(r->t, args.at[0]) == NODE_INT && literal_int(&r->t->tokens, ast_token(r->t, args.at[0]), &level) &&
	       level <= 3;
}

static void report_arguments(struct resolver *r, node_id n)
{
	span at = node_span(r->m, n);
	struct diag *g =
		diag_add(r->out, DIAG_UNKNOWN_ATTR, at, "`@%s` takes no arguments", name_text(r->f, name_at(r, ast_token(r->t, n))));
	at.start = r->t->tokens.ends[ast_token(r->t, n)];
	diag_edit(r->out, g, at, "");
}

static void report_text(struct resolver *r, node_id n, struct ast_nodes args, const char *written)
{
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_ATTR, node_span(r->m, n), "`@%s` takes one string: `%s`",
				  name_text(r->f, name_at(r, ast_token(r->t, n))), written);
	if (args.n != 1 || ast_kind(r->t, args.at[0]) != NODE_NAME)
		return;
	struct buf quoted = {0};
	buf_printf(&quoted, "\"%s\"", name_text(r->f, name_at(r, ast_token(r->t, args.at[0]))));
	diag_edit(r->out, g, node_span(r->m, args.at[0]), quoted.at);
	buf_free(&quoted);
}

static void report_level(struct resolver *r, node_id n, struct ast_nodes args, const char *written)
{
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_ATTR, node_span(r->m, n), "`@%s` takes a level from 0 to 3: `%s`",
				  name_text(r->f, name_at(r, ast_token(r->t, n))), written);
	node_id named = args.n == 1 && ast_kind(r->t, args.at[0]) == NODE_NAMED_ARG ? ast_a(r->t, args.at[0]) : AST_NONE;
	if (named && is_level(r, (struct ast_nodes){&named, 1})) { /* @opt(level=3) */
		span name = node_span(r->m, args.at[0]);
		name.end = node_span(r->m, named).start;
		diag_edit(r->out, g, name, "");
	}
}

static void check_arguments(struct resolver *r, node_id n, const struct attribute *a)
{
	struct ast_nodes args = ast_a(r->t, n) ? ast_nodes(r->t, ast_a(r->t, n)) : (struct ast_nodes){0};
	if (a->takes == TAKES_NOTHING && args.n)
		report_arguments(r, n);
	else if (a->takes == TAKES_TEXT && (args.n != 1 || ast_kind(r->t, args.at[0]) != NODE_STRING))
		report_text(r, n, args, a->written);
	else if (a->takes == TAKES_LEVEL && !is_level(r, args))
		report_level(r, n, args, a->written);
}

static void resolve_attribute_report_place(struct resolver *r, node_id n, const struct attribute *a)
{
	diag_add(r->out, DIAG_MISPLACED_ATTR, node_span(r->m, n), "`%s` %s", a->written,
		 a->place == BEFORE_LOOP ? "precedes a `for`" : "precedes a definition, not a `for`");
}

static void report_unknown_attribute(struct resolver *r, node_id n, const char *name, enum attribute_place place)
{
	token_id tok = ast_token(r->t, n);
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_ATTR, tok_span(r->m, tok), "unknown attribute `@%s`", name);
	if (habit_name_help(r->out, g, &r->t->tokens, tok, HABIT_ATTRIBUTE)) {
		const char *instead = habit_name_instead(name, HABIT_ATTRIBUTE);
		span all = node_span(r->m, n);
		all.start = tok_span(r->m, tok).start;
		if (instead && strchr(instead, '(')) /* its own arguments, too */
			diag_edit(r->out, g, all, instead);
		return;
	}
	if (diag_did_you_mean(r->out, g, tok_span(r->m, tok), name, names, KNOWN))
		return;
	struct buf all = {0};
	uint32_t n_here = 0, shown = 0;
	for (uint32_t k = 0; k < KNOWN; k++)
		n_here += attributes[k].place == place;
	for (uint32_t k = 0; k < KNOWN; k++)
		if (attributes[k].place == place) {
			buf_printf(&all, "%s`%s`", !shown ? "" : shown + 1 < n_here ? ", " : " and ", attributes[k].written);
			shown++;
		}
	diag_help(r->out, g, "the attributes are %s", all.at);
	buf_free(&all);
}

void check_attributes(struct resolver *r, struct ast_nodes attrs, enum attribute_place place)
{
	for (uint32_t i = 0; i < attrs.n; i++) {
		token_id tok = ast_token(r->t, attrs.at[i]);
		const char *name = name_text(r->f, name_at(r, tok));
		const struct attribute *found = NULL;
		bool asked = index_asked(r->f, tok_span(r->m, tok));
		for (uint32_t k = 0; k < KNOWN; k++) {
			if (!strcmp(name, names[k]))
				found = &attributes[k];
			if (asked && attributes[k].place == place)
				index_offer(r->f, names[k], SYMBOL_UNKNOWN, SYMBOL_NONE, NULL);
		}
		if (asked)
			r->f->index->context = ASK_ATTRIBUTE;
		if (!found)
			report_unknown_attribute(r, attrs.at[i], name, place);
		else if (found->place != place)
			resolve_attribute_report_place(r, attrs.at[i], found);
		else
			check_arguments(r, attrs.at[i], found);
	}
}
