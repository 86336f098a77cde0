/* Loading: a file, its tree, the table of its items, then the files it imports, depth first. */
#include "frontend/names/module.h"
#include <errno.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/huge_alloc.h"
#include "base/os.h"
#include "base/path.h"
#include "frontend/habits/habits.h"
#include "frontend/names/std_tree.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/literal.h"
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
	return !g->sound && g->primary.at.source == m->ast.tokens.src->id && diag_is_syntax_error(g->code);
}

static bool covers(const struct module *m, const struct item *it, span at)
{
	span all = node_span(m, it->node);
	return at.start >= all.start && at.start <= all.end;
}

/* Each syntax error marks the items that it may lie in, or the file. */
static void mark_syntax_errors(const struct frontend *f, struct module *m)
{
	for (uint32_t i = 0; i < diags_count(f->diags); i++) {
		if (!is_syntax(f, i, m))
			continue;
		bool inside = false;
		uint32_t low = 0, high = m->n_items;
		span at = diags_at(f->diags, i)->primary.at;
		while (low < high) { /* to the first item that does not end before it */
			uint32_t middle = low + (high - low) / 2;
			if (node_span(m, m->items[middle].node).end < at.start)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < m->n_items && covers(m, &m->items[low], at); low++)
			m->items[low].has_syntax_error = inside = true;
		m->incomplete = m->incomplete || !inside;
	}
}

/* ---- items ---- */

static void define(struct frontend *f, struct module *m, struct item it)
{
	struct item *old = it.name ? module_find(m, it.name) : NULL;
	if (old) {
		struct diag *g =
			diag_add(f->diags, DIAG_DUPLICATE, tok_span(m, it.name_token), "`%s` is defined twice", name_text(f, it.name));
		diag_label_primary(f->diags, g, "defined again here");
		diag_secondary(f->diags, g, tok_span(m, old->name_token), "first defined here");
		m->failed = true;
		it.name = 0; /* still checked, but not found by name */
	}
	it.mod = m;
	m->items[m->n_items] = it;
	if (it.name)
		map_put(&m->by_name, map_key_u64(it.name), m->n_items);
	m->n_items++;
}

static enum item_kind kind_of(const struct ast *t, node_id n)
{
	switch (ast_kind(t, n)) {
	case NODE_FN: return ITEM_FN;
	case NODE_LAYER: return ast_fn(t, n).module_form ? ITEM_MODULE_LAYER : ITEM_LAYER;
	case NODE_CONST: return ITEM_CONST;
	case NODE_ALIAS: return ITEM_TYPE;
	default: return ITEM_MAIN;
	}
}

/* The declaration, if that says what a call gives; else all of it. */
static hash128 interface_tokens(const struct ast *t, node_id n, hash128 tokens)
{
	struct ast_fn fn = ast_fn(t, n);
	return fn.result && fn.body ? ast_tokens_before(t, n, fn.body) : tokens;
}

static void define_item(struct frontend *f, struct module *m, node_id n, hash128 tokens)
{
	const struct ast *t = &m->ast;
	token_id tok = ast_item_name(t, n);
	if (tok == TOKEN_NONE)
		return;
	struct item it = {.kind = kind_of(t, n), .node = n, .name_token = tok, .tokens = tokens, .interface = tokens};
	if (f->records_reads && (it.kind == ITEM_FN || it.kind == ITEM_LAYER))
		it.interface = interface_tokens(t, n, tokens);
	if (it.kind != ITEM_MAIN)
		it.name = token_name(f, m, tok);
	define(f, m, it);
	struct frontend_def def = {
		.file = m->path,
		.name = it.kind == ITEM_MAIN ? "main" : name_text(f, token_name(f, m, tok)),
		.tokens = it.tokens,
		.at = node_span(m, n),
	};
	vec_push(&f->loaded.defs, def);
}

/* The names that a pattern binds, from left to right. */
uint32_t pattern_names(const struct ast *t, node_id pattern, token_id *names)
{
	enum node_kind k = ast_kind(t, pattern);
	token_id one = k == NODE_PAT_NAME ? ast_token(t, pattern) : k == NODE_PAT_REST ? ast_a(t, pattern) : TOKEN_NONE;
	if (one != TOKEN_NONE) {
		bool wildcard = token_is(&t->tokens, one, "_");
		if (names && !wildcard)
			*names = one;
		return !wildcard;
	}
	if (k != NODE_PAT_TUPLE && k != NODE_PAT_LIST)
		return 0;
	struct ast_nodes items = ast_nodes(t, ast_a(t, pattern));
	uint32_t n = 0;
	for (uint32_t i = 0; i < items.n; i++)
		n += pattern_names(t, items.at[i], names ? names + n : NULL);
	return n;
}

/* A constant for each name of the pattern; one definition, named after the first. */
static void define_let(struct frontend *f, struct module *m, node_id n, hash128 tokens)
{
	node_id pattern = ast_let(&m->ast, n).pattern;
	uint32_t count = pattern_names(&m->ast, pattern, NULL);
	token_id *names = ARENA_ARRAY(f->arena, token_id, count + 1);
	pattern_names(&m->ast, pattern, names);
	for (uint32_t i = 0; i < count; i++)
		define(f, m,
		       (struct item){.kind = ITEM_CONST,
				     .node = n,
				     .name_token = names[i],
				     .name = token_name(f, m, names[i]),
				     .tokens = tokens,
				     .interface = tokens});
	struct frontend_def def = {.file = m->path, .tokens = tokens, .at = node_span(m, n)};
	def.name = count ? name_text(f, token_name(f, m, names[0])) : "_";
	vec_push(&f->loaded.defs, def);
}

/* ---- imports ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return n && !strncmp(path, folder, n) && path[n] == '/';
}

/* The dependency that the first `len` bytes of `name` stand for in a file, or NULL. */
static const struct frontend_dependency *find_dependency(const struct frontend *f, const char *file, const char *name, size_t len)
{
	const char *owner = "";
	for (uint32_t i = 0; i < f->n_dependencies && !*owner; i++)
		if (is_below(file, f->dependencies[i].root))
			owner = f->dependencies[i].root;
	for (uint32_t i = 0; i < f->n_dependencies; i++) {
		const struct frontend_dependency *d = &f->dependencies[i];
		if (!strcmp(d->owner, owner) && strlen(d->name) == len && !memcmp(d->name, name, len))
			return d;
	}
	return NULL;
}

static struct module *report_absent(struct frontend *f, const struct frontend_dependency *d, span at, bool *ok)
{
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_FILE, at, "the files of the dependency `%s` are not here yet", d->name);
	diag_help(f->diags, g, "`trib build` fetches them");
	*ok = false;
	return NULL;
}

static struct module *import_file(struct frontend *f, struct module *m, const char *text, span at, bool *ok)
{
	char *path = path_normal(f->arena, path_join(f->arena, path_dir(f->arena, m->path), text));
	size_t len = strcspn(text, "/");
	const struct frontend_dependency *d = text[len] ? find_dependency(f, m->path, text, len) : NULL;
	if (!d)
		return module_load(f, path, at, true, ok);
	bool quiet_ok = true;
	struct module *beside = module_load(f, path, at, false, &quiet_ok);
	*ok = *ok && quiet_ok;
	if (beside || !quiet_ok)
		return beside;
	if (d->absent)
		return report_absent(f, d, at, ok);
	return module_load(f, path_normal(f->arena, path_join(f->arena, d->folder, text + len + 1)), at, true, ok);
}

static struct module *import_dependency(struct frontend *f, const struct frontend_dependency *d, span at, bool *ok)
{
	if (d->main)
		return module_load(f, d->main, at, true, ok);
	if (d->absent)
		return report_absent(f, d, at, ok);
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_FILE, at, "the dependency `%s` has no file `%s.tri`", d->name, d->name);
	diag_label_primary(f->diags, g, "not in `%s`, nor in `src` there", d->folder);
	diag_help(f->diags, g, "its files are imported by their paths: `import \"%s/FILE.tri\" as NAME`", d->name);
	*ok = false;
	return NULL;
}

/* What an import names: a file beside the importing one, else of a dependency, else of the standard library. */
static struct module *import_target(struct frontend *f, struct module *m, token_id tok, bool *ok)
{
	const struct tokens *ts = &m->ast.tokens;
	span at = token_span(ts, tok);
	if (token_kind(ts, tok) == TOK_STRING) {
		size_t n;
		return import_file(f, m, literal_string(ts, tok, f->arena, &n), at, ok);
	}
	const char *name = name_text(f, token_name(f, m, tok));
	if (!m->std) {
		const struct frontend_dependency *d = find_dependency(f, m->path, name, strlen(name));
		char *beside =
			path_normal(f->arena, path_join(f->arena, path_dir(f->arena, m->path), arena_printf(f->arena, "%s.tri", name)));
		bool quiet_ok = true;
		struct module *found = module_load(f, beside, at, false, &quiet_ok);
		*ok = *ok && quiet_ok;
		if (found || !quiet_ok)
			return found;
		if (d)
			return import_dependency(f, d, at, ok);
	}
	return module_load(f, arena_printf(f->arena, "std/%s.tri", name), at, true, ok);
}

/* The name that `import "dir/blocks.tri"` binds without `as`. */
static name_id import_name(struct frontend *f, const struct module *m, token_id tok)
{
	size_t n;
	if (token_kind(&m->ast.tokens, tok) != TOK_STRING)
		return token_name(f, m, tok);
	return intern_str(f->names, path_stem(f->arena, literal_string(&m->ast.tokens, tok, f->arena, &n)));
}

static void import_one(struct frontend *f, struct module *m, node_id n, bool *ok)
{
	const struct ast *t = &m->ast;
	token_id what = ast_a(t, n), as = ast_b(t, n);
	if (what == TOKEN_NONE)
		return;
	struct module *target = import_target(f, m, what, ok);
	if (ast_kind(t, n) == NODE_IMPORT) {
		struct item it = {.kind = ITEM_IMPORT, .node = n, .import.target = target, .name_token = as == TOKEN_NONE ? what : as};
		it.name = as == TOKEN_NONE ? import_name(f, m, what) : token_name(f, m, as);
		define(f, m, it);
		return;
	}
	struct ast_nodes names = ast_nodes(t, ast_b(t, n));
	for (uint32_t i = 0; i < names.n; i++) {
		if (ast_kind(t, names.at[i]) != NODE_IMPORT_NAME)
			continue;
		token_id remote = ast_token(t, names.at[i]), local = ast_a(t, names.at[i]);
		struct item it = {
			.kind = ITEM_FROM, .node = names.at[i], .import.target = target, .import.remote = token_name(f, m, remote)};
		it.name_token = local == TOKEN_NONE ? remote : local;
		it.name = token_name(f, m, it.name_token);
		define(f, m, it);
	}
}

static uint32_t count_items(const struct ast *t, struct ast_nodes items)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < items.n; i++) {
		enum node_kind k = ast_kind(t, items.at[i]);
		n += k == NODE_FROM_IMPORT ? ast_nodes(t, ast_b(t, items.at[i])).n
		     : k == NODE_LET       ? pattern_names(t, ast_let(t, items.at[i]).pattern, NULL)
					   : 1;
	}
	return n;
}

/* A line of the file, counted on from one place to a later one. */
struct line_count {
	uint32_t offset, line;
};

/* The item's hash. An assertion tells its line when it fails at run time, so that its line belongs to what the item means. */
static hash128 item_tokens(const struct module *m, node_id first, node_id item, struct line_count *at)
{
	const struct ast *t = &m->ast;
	hash128 h = ast_item_tokens(t, item);
	for (node_id n = first; n <= item && !m->std; n++) {
		if (ast_kind(t, n) != NODE_ASSERT)
			continue;
		uint32_t start = node_span(m, n).start;
		for (; at->offset < start; at->offset++)
			at->line += t->tokens.src->text[at->offset] == '\n';
		h = hash_combine(h, (hash128){at->line, 0});
	}
	return h;
}

bool module_collect_items(struct frontend *f, struct module *m)
{
	bool ok = true;
	const struct ast *t = &m->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	uint32_t room = count_items(t, items);
	struct hasher *h = hasher_new();
	m->items = ARENA_ARRAY(f->arena, struct item, room ? room : 1);
	struct line_count line = {0, 1};
	for (uint32_t i = 0; i < items.n; i++) {
		enum node_kind k = ast_kind(t, items.at[i]);
		hash128 tokens = {0, 0};
		if (k != NODE_ERROR)
			tokens = item_tokens(m, i ? items.at[i - 1] + 1 : 1, items.at[i], &line);
		if (k == NODE_IMPORT || k == NODE_FROM_IMPORT)
			import_one(f, m, items.at[i], &ok);
		else if (k == NODE_LET)
			define_let(f, m, items.at[i], tokens);
		else if (k != NODE_ERROR)
			define_item(f, m, items.at[i], tokens);
		if (k != NODE_ERROR)
			hasher_add_hash(h, tokens);
	}
	m->tokens = hasher_finish(h);
	return ok;
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
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_CYCLE, at, "`%s` imports itself in a circle", again->path);
	bool inside = false;
	diag_label_primary(f->diags, g, "this import closes the circle");
	for (uint32_t i = 0; i < f->modules.len; i++) {
		struct module *m = f->modules.at[i];
		inside = inside || m == again;
		if (inside && m != again && m->loading)
			diag_secondary(f->diags, g, m->imported_at, "`%s` is imported here", m->path);
	}
	diag_help(f->diags, g, "move what both files need into a third file");
}

span import_line(const struct source *s, span import)
{
	uint32_t start = source_line_start(s, import.start), end = import.end;
	while (end < s->len && (s->text[end] == ' ' || s->text[end] == '\t' || s->text[end] == '\r'))
		end++;
	bool alone = start == import.start && (end == s->len || s->text[end] == '\n');
	return alone ? (span){s->id, start, end < s->len ? end + 1 : end} : import;
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Without `import torch as t`, where `at` is the module's name; not where names are taken from it. */
static void drop_import(struct frontend *f, struct diag *g, span at)
{
	const struct source *s = sources_get(f->sources, at.source);
	span import = {at.source, source_line_start(s, at.start), at.end};
	if (strncmp(s->text + import.start, "import ", 7) != 0)
		return;
	if (!strncmp(s->text + import.end, " as ", 4))
		for (import.end += 4; is_word(s->text[import.end]);)
			import.end++;
	if (s->text[import.end] != ';' && s->text[import.end] != ',')
		diag_edit(f->diags, g, import_line(s, import), "");
}

/* `import nm`: one letter of a name of two is another. */
static bool short_slip(struct frontend *f, struct diag *g, span at, const char *name, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n && strlen(name) == 2; i++)
		if (strlen(names[i]) == 2 && (names[i][0] == name[0]) != (names[i][1] == name[1])) {
			diag_help(f->diags, g, "did you mean `%s`?", names[i]);
			diag_guess(f->diags, g, at, names[i]);
			return true;
		}
	return false;
}

/* `why`: errno of the attempt to read it, or 0. */
static void report_missing(struct frontend *f, const char *path, span at, int why)
{
	if (why && why != ENOENT && why != ENOTDIR) {
		diag_add(f->diags, DIAG_FILE_READ, at, "cannot read `%s`: %s", path, strerror(why));
		return;
	}
	bool bare = !strncmp(path, "std/", 4);
	const char *name = bare ? path_stem(f->arena, path) : path, *std_names[16];
	struct diag *g = diag_add(f->diags, DIAG_IMPORT_FILE, at, bare ? "there is no module `%s`" : "there is no file `%s`", name);
	diag_label_primary(f->diags, g, bare ? "neither a file beside this one nor in the standard library" : "not found");
	uint32_t n = frontend_std_names(std_names, 16);
	const char *foreign = bare ? habit_module_help(name) : NULL;
	if (foreign) {
		diag_help(f->diags, g, "%s", foreign);
		if (habit_package(name))
			drop_import(f, g, at);
	} else if (bare && !short_slip(f, g, at, name, std_names, n) && !diag_did_you_mean(f->diags, g, at, name, std_names, n)) {
		struct buf all = {0};
		for (uint32_t i = 0; i < n; i++)
			buf_printf(&all, "%s`%s`", !i ? "" : i + 1 < n ? ", " : " and ", std_names[i]);
		diag_help(f->diags, g, "the standard library's modules are %s; a file is imported as `import \"%s.tri\" as %s`", all.at,
			  name, name);
		buf_free(&all);
	} else if (!bare) {
		diag_help(f->diags, g, "a path is relative to the importing file");
	}
}

static void make_names(struct module *m)
{
	size_t names = (m->ast.tokens.len + 1) * sizeof *m->names;
	m->names = memset(huge_grow(NULL, 0, names), 0, names);
}

/* A module of the standard library was parsed when trib was built. */
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
	bool ok = lex(src, &toks, f->diags);
	int64_t t1 = os_now_ns();
	f->times.lines += toks.lines;
	if (!parse(&toks, &m->ast, f->diags))
		ok = false;
	ast_note_spans(&m->ast);
	f->times.lex += t1 - t0;
	f->times.parse += os_now_ns() - t1;
	make_names(m);
	return ok;
}

/* A known module: reports cycles. */
static struct module *revisit(struct frontend *f, struct module *m, span at, bool *ok)
{
	if (m->loading) {
		report_cycle(f, m, at);
		*ok = false;
	}
	return m;
}

struct module *module_load(struct frontend *f, const char *path, span at, bool must, bool *ok)
{
	uint64_t known;
	bool std = !strncmp(path, "std/", 4);
	if (map_get(&f->loaded.by_path, map_key_str(path), &known))
		return revisit(f, f->modules.at[known], at, ok);
	errno = 0;
	const struct source *src = std ? std_source(f, path) : f->host.load(f->host.ctx, path);
	if (!src) {
		int why = std ? 0 : errno;
		if (f->is_refreshable)
			vec_push(&f->loaded.missing, arena_strdup(f->session, path));
		if (must) {
			report_missing(f, path, at, why);
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
		mark_syntax_errors(f, m);
	*ok = *ok && !m->failed;
	return m;
}
