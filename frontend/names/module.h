/* The session of a front end: loaded files, their syntax trees, items and imports. Private to the front end. */
#ifndef TRIB_FRONTEND_NAMES_MODULE_H
#define TRIB_FRONTEND_NAMES_MODULE_H
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/hir/dtype.h"
#include "frontend/names/host.h"
#include "frontend/std/std.h"
#include "frontend/syntax/ast.h"

struct elaborated;
struct item;
struct elab_unit;
struct value;

/* How much of a definition was read: its declaration alone, which says what a call takes and returns; or all of it. */
enum read_depth { READ_INTERFACE, READ_WHOLE };
struct item_read {
	struct item *item;
	enum read_depth depth;
};
struct item_reads {
	const struct item_read *at;
	uint32_t n;
};

enum item_kind { ITEM_FN, ITEM_LAYER, ITEM_MODULE_LAYER, ITEM_CONST, ITEM_TYPE, ITEM_IMPORT, ITEM_FROM, ITEM_MAIN };
enum item_state { ITEM_NEW, ITEM_BUSY, ITEM_DONE };
/* Whether the check that an earlier process recorded still holds. SAME_INPUTS: the item and the definitions that its check read have
 * not changed, but the value of a constant among them may have. VALID: those values are unchanged, too. */
enum item_check { CHECK_UNKNOWN, CHECK_SAME_INPUTS, CHECK_VALID };
enum item_change { CHANGE_NONE, CHANGE_BODY, CHANGE_INTERFACE };

/* One name that a file defines or imports. */
struct item {
	/* What the parser found. */
	enum item_kind kind;
	name_id name;
	struct module *mod;
	node_id node; /* of the item, or of the IMPORT_NAME */
	token_id name_token;
	hash128 tokens;
	hash128 interface; /* of the tokens that matter to its callers */
	uint32_t ordinal; /* the number of definitions of this name that were loaded before it: with the name, its identity in every file */
	bool has_syntax_error; /* no further error is reported about it */
	bool local;            /* an alias of a block, which sees the block's locals */
	struct {
		struct module *target; /* ITEM_IMPORT, ITEM_FROM; NULL: could not be loaded */
		name_id remote;        /* ITEM_FROM: the name there */
	} import;

	/* What the resolver found. */
	struct {
		bool used;             /* a name in this or another file refers to it */
		bool missing_reported; /* ITEM_FROM: the module has no such name, and that was reported */
	} resolved;

	/* What the checker and the elaborator found. */
	struct {
		enum item_state state;   /* ITEM_CONST: evaluation; ITEM_FROM: following */
		struct value *value;     /* ITEM_CONST once done, else NULL */
		struct func *func;       /* ITEM_FN, ITEM_LAYER: the callable */
		bool has_instances;      /* ITEM_MODULE_LAYER: instances of it outlive a check */
		struct item_reads reads; /* of its check; ITEM_CONST: of its evaluation */
		struct {
			uint32_t recording;
			enum read_depth depth;
		} last_read; /* reads_note */
	} checked;

	/* What a later build, in this process or another, needs to know. */
	struct {
		enum item_check check;
		enum item_change change; /* since the last program was elaborated */
		bool must_check;         /* an input of its check has changed */
	} refresh;
};

/* One file. */
struct module {
	const char *path; /* "src/net.tri", "std/nn.tri" */
	struct ast ast;
	name_id *names; /* by token, filled on demand; 0: not yet */
	bool std, loading, failed;
	bool incomplete;  /* a syntax error is outside all items: definitions may be missing */
	span imported_at; /* the first import of it */
	struct item *items;
	uint32_t n_items;
	struct map by_name; /* name_id to item index */
	hash128 tokens;
	bool checks_hold;  /* nothing in it has to be resolved or checked */
	bool reloaded;     /* since the last program was elaborated */
	bool must_resolve; /* reloaded since its names were resolved */
};

/* A session: the files of one project and all that is known of them. */
struct frontend {
	/* Given by the caller. */
	struct sources *sources;
	struct frontend_host host;
	struct diags *diags;
	struct diags *warnings; /* shown if there are no errors */
	struct index *index;    /* NULL: none is filled */
	const struct frontend_dependency *dependencies;
	uint32_t n_dependencies;
	bool records_reads;  /* of checks */
	bool is_refreshable; /* everything is recorded that a refresh needs */

	/* Shared by all steps. */
	struct arena *session; /* lives as long as the front end */
	struct arena *arena;   /* of the work at hand: `session`, or one that is freed after the check of a definition */
	struct interner *names;
	struct frontend_times times;

	/* Loading. */
	VEC(struct module *) modules; /* in the order loaded */
	struct {
		struct map by_path;
		struct map ordinals; /* name_id → how many definitions have it */
		VEC(struct frontend_def) defs;
		VEC(const char *) missing; /* paths that were looked up, and are no files */
		bool reexports;            /* some file imports a name from one that imports it */
	} loaded;

	/* Name resolution. */
	struct {
		struct map by_name; /* name_id to index into `values` */
		VEC(struct value) values;
		VEC(const char *) names;
	} prelude;
	struct {
		uint32_t n_modules;      /* modules done */
		uint64_t n_tokens;       /* of all modules, when names were resolved last */
		VEC(uint32_t) innermost; /* by name_id: its index in the resolver's scope plus 1; 0 for all names between two files */
	} resolver;

	/* Checking and elaboration. */
	struct {
		uint32_t n_checked; /* modules checked */
		/* By name_id: the greatest number of locals at a declaration of one of that name; 0: never a local. */
		VEC(uint32_t) most_locals;
		struct map wrong_results;      /* functions whose body does not give the declared result, by source and node */
		struct map units;              /* identity to struct elab_unit */
		VEC(struct elab_unit *) calls; /* units of calls and entries */
		struct builtin_sig *builtin_sigs;
		uint32_t next_param;
		uint32_t next_instance;
		uint32_t n_recordings;
		struct elaborated *last; /* the last program; NULL: none */
	} elab;
};

/* The loaded file of that path, or NULL. */
struct module *module_loaded(const struct frontend *f, const char *path);
/* Loads a file (once) with its imports, for the import at `at`. NULL: there is no such file; reported if `must`. */
struct module *module_load(struct frontend *f, const char *path, span at, bool must, bool *ok);
/* The first of the constants that one `let` binds; for a `const`, itself. */
static inline struct item *item_first(struct item *it)
{
	while (it > it->mod->items && it[-1].node == it->node)
		it--;
	return it;
}
struct item *module_find(const struct module *m, name_id name);
/* import.c: loads the module that the import names at `tok`. NULL: reported, and *ok is false. */
struct module *import_target(struct frontend *f, struct module *m, token_id tok, bool *ok);
/* Reports that there is no file or module for an import. `why`: errno of the attempt to read it, or 0. */
void import_report_missing(struct frontend *f, const char *path, span at, int why);
/* The steps of loading: the tree, then the items. False: reported. */
bool module_parse(struct frontend *f, struct module *m, const struct source *src);
bool module_collect_items(struct frontend *f, struct module *m);
/* Replaces the text of a loaded file by one that defines and imports the same names, and marks the changed items. False: the names
 * differ or the text has errors, which are not reported. */
bool module_reload(struct frontend *f, struct module *m, const struct source *src);
/* The definition of an item: follows `from m import x`. NULL: reported. */
struct item *item_resolve_import(struct frontend *f, struct item *it);
/* Sets the ordinals of a loaded file's definitions. */
void items_set_ordinals(struct frontend *f, struct module *m);
/* Hashes the identity of a definition, which does not change if its file is renamed or it moves to another. */
void item_hash_identity(struct hasher *h, const struct frontend *f, const struct item *it);

static inline const char *name_text(const struct frontend *f, name_id n) { return intern_text(f->names, n); }
name_id token_name(struct frontend *f, const struct module *m, token_id t);
static inline span node_span(const struct module *m, node_id n) { return ast_span(&m->ast, n); }
static inline span tok_span(const struct module *m, token_id t) { return token_span(&m->ast.tokens, t); }
/* The whole line of an import if nothing else is on it, else the import. */
span import_line(const struct source *s, span import);
/* The ATTR node of attribute @name of an item or member, or AST_NONE. */
node_id attr_find(const struct module *m, struct ast_nodes attrs, const char *name);

/* Reports names, types and attributes that nothing defines, also in code that is never elaborated (resolve.c). */
void resolve_module(struct frontend *f, struct module *m);
/* Warns about unused imports. Call it after all modules are resolved. */
void resolve_warn_imports(struct frontend *f, const struct module *m);
#endif
