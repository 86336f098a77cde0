/* Loading: a file, its tree, the table of its items, then the files it imports, depth first. */
#include "frontend/names/module.h"
#include <errno.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/huge_alloc.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/path.h"
#include "frontend/names/std_tree.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

name_id token_name(struct frontend *f, const struct module *m, token_id t)
{
	if (!m->names[t])
		m->names[t] = intern(f->names, token_text(&m->ast.tokens, t), token_len(&m->ast.tokens, t));
	return m->names[t];
}

node_id attr_find(const struct module *m, struct ast_nodes attrs, const char *name)
{
	for (uint32_t i = 0; i < attrs.n; i++)
		if (token_is(&m->ast.tokens, ast_token(&m->ast, attrs.at[i]), name))
			return attrs.at[i];
	return AST_NONE;
}

struct item *module_find(const struct module *m, name_id name)
{
	uint64_t i;
	return map_get(&m->by_name, map_key_u64(name), &i) ? &m->items[i] : NULL;
}

/* ---- syntax errors ---- */

static bool is_syntax(const struct frontend *f, uint32_t i, const struct module *m)
{
	const struct diag *g = diags_at(f->diags, i);
	return !g->is_recovered && g->primary.at.source == m->ast.tokens.src->id && diag_is_syntax_error(g->code);
}

static bool contains_span(const struct module *m, const struct item *it, span at)
{
	span all = node_span(m, it->node);
	return at.start >= all.start && at.start <= all.end;
}

/* Each syntax error marks the items that may contain it, or else the file. */
static void module_mark_syntax_errors(const struct frontend *f, struct module *m)
{
	for (uint32_t i = 0; i < diags_count(f->diags); i++) {
		if (!is_syntax(f, i, m))
			continue;
		bool inside = false;
		uint32_t low = 0, high = m->n_items;
		span at = diags_at(f->diags, i)->primary.at;
		while (low < high) { /* find the first item that does not end before it */
			uint32_t middle = low + (high - low) / 2;
			if (node_span(m, m->items[middle].node).end < at.start)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < m->n_items && contains_span(m, &m->items[low], at); low++)
			m->items[low].has_syntax_error = inside = true;
		m->incomplete = m->incomplete || !inside;
	}
}

/* ---- loading ---- */

static const struct source *std_source(struct frontend *f, const char *path)
{
	uint32_t len;
	char *name = path_stem(f->arena, path);
	const char *text = frontend_std(name, &len);
	return text ? sources_add(f->sources, path, text, len) : NULL;
}

static void report_cycle(struct frontend *f, struct module *again, span at)
{
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_CYCLE, at, "`%s` imports itself through other files", again->path);
	bool inside = false;
	diag_label_primary(f->diags, g, "this import closes the cycle");
	for (uint32_t i = 0; i < f->modules.len; i++) {
		struct module *m = f->modules.at[i];
		inside = inside || m == again;
		if (inside && m != again && m->loading)
			diag_secondary(f->diags, g, m->imported_at, "`%s` is imported here", m->path);
	}
	diag_help(f->diags, g, "move what both files need to a third file");
}

static void make_names(struct module *m)
{
	size_t names = (m->ast.tokens.len + 1) * sizeof *m->names;
	m->names = memset(huge_grow(NULL, 0, names), 0, names);
}

/* Takes the tree of a standard module, which was parsed when trib was built. */
static bool take_std_tree(struct frontend *f, struct module *m, const struct source *src)
{
	const struct std_tree *t = m->std ? std_tree_find(path_stem(f->arena, m->path)) : NULL;
	if (!t)
		return false;
	m->ast = t->ast;
	m->ast.tokens.src = src;
	f->times.lines += m->ast.tokens.lines;
	make_names(m);
	return true;
}

bool module_parse(struct frontend *f, struct module *m, const struct source *src)
{
	if (take_std_tree(f, m, src))
		return true;
	struct tokens toks;
	int64_t t0 = os_now_ns();
	measure_begin("lex");
	bool ok = lex(src, &toks, f->diags);
	measure_end();
	int64_t t1 = os_now_ns();
	measure_begin("parse");
	f->times.lines += toks.lines;
	if (!parse(&toks, &m->ast, f->diags))
		ok = false;
	measure_begin("note spans");
	ast_note_spans(&m->ast);
	measure_end();
	f->times.lex += t1 - t0;
	measure_end();
	f->times.parse += os_now_ns() - t1;
	make_names(m);
	return ok;
}

/* A module that was loaded before; reports a cycle. */
static struct module *revisit(struct frontend *f, struct module *m, span at, bool *ok)
{
	if (m->loading) {
		report_cycle(f, m, at);
		*ok = false;
	}
	return m;
}

struct module *module_loaded(const struct frontend *f, const char *path)
{
	uint64_t i;
	return map_get(&f->loaded.by_path, map_key_str(path), &i) ? f->modules.at[i] : NULL;
}

struct module *module_load(struct frontend *f, const char *path, span at, bool must, bool *ok)
{
	bool std = !strncmp(path, "std/", 4);
	struct module *known = module_loaded(f, path);
	if (known)
		return revisit(f, known, at, ok);
	errno = 0;
	measure_begin("load");
	const struct source *src = std ? std_source(f, path) : f->host.load(f->host.ctx, path);
	int why = std ? 0 : errno;
	measure_end();
	if (!src) {
		if (f->is_refreshable)
			vec_push(&f->loaded.missing, arena_strdup(f->session, path));
		if (must) {
			import_report_missing(f, path, at, why);
			*ok = false;
		}
		return NULL;
	}
	struct module *m = ARENA_NEW(f->arena, struct module);
	m->path = arena_strdup(f->arena, path);
	m->std = std;
	m->imported_at = at;
	map_put(&f->loaded.by_path, map_key_str(path), f->modules.len);
	vec_push(&f->modules, m);
	m->loading = true;
	m->failed = !module_parse(f, m, src);
	m->failed = !module_collect_items(f, m) || m->failed;
	items_set_ordinals(f, m);
	m->loading = false;
	if (m->failed)
		module_mark_syntax_errors(f, m);
	*ok = *ok && !m->failed;
	return m;
}
