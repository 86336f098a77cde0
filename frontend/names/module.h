/* Loaded files: their syntax trees, their items, what they import. Private to the front end. */
#ifndef TRIB_FRONTEND_NAMES_MODULE_H
#define TRIB_FRONTEND_NAMES_MODULE_H
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/hir/dtype.h"
#include "frontend/names/host.h"
#include "frontend/std/std.h"
#include "frontend/syntax/ast.h"

struct item;
struct value;
enum read_of { READ_INTERFACE, READ_WHOLE }; /* its declaration alone: what a call says and gets; all of it */
struct read {
	struct item *item;
	enum read_of of;
};
struct read_list {
	const struct read *at;
	uint32_t n;
};

enum item_kind { ITEM_FN, ITEM_LAYER, ITEM_MODULE_LAYER, ITEM_CONST, ITEM_TYPE, ITEM_IMPORT, ITEM_FROM, ITEM_MAIN };
enum item_state { ITEM_NEW, ITEM_BUSY, ITEM_DONE };
/* SAME: the item, and what its check read, but constants that it read may be made of what is not. */
enum item_trace { TRACE_NONE, TRACE_SAME, TRACE_HOLDS };
enum item_change { CHANGE_NONE, CHANGE_BODY, CHANGE_INTERFACE };

/* One name that a file defines or imports. */
struct item {
	enum item_kind kind;
	name_id name;
	struct module *mod;
	node_id node; /* of the item, or of the IMPORT_NAME */
	token_id name_token;
	struct module *target; /* ITEM_IMPORT, ITEM_FROM; NULL: could not be loaded */
	name_id remote;        /* ITEM_FROM: the name there */
	bool broken;           /* a syntax error lies in it: nothing more is said about it */
	bool used;             /* some name in this or another file stands for it */
	bool reported;         /* ITEM_FROM: a missing name was reported */
	enum item_state state; /* ITEM_CONST: evaluation; ITEM_FROM: following */
	struct value *value;   /* ITEM_CONST once done, else NULL */
	hash128 tokens;
	uint32_t
		namesake; /* how many definitions of its name were loaded before: with the name what tells it from all others, wherever it stands */
	struct func *func; /* ITEM_FN, ITEM_LAYER: the callable */
	/* Where reads are recorded: */
	hash128 face;            /* what of the tokens those see who only call it */
	enum item_trace trace;   /* of a process before this one */
	enum item_change change; /* since the last program was elaborated */
	bool unchecked;          /* what its check read has changed */
	bool made;               /* ITEM_MODULE_LAYER: there are instances of it that outlive a check */
	struct read_list reads;  /* of its check; ITEM_CONST: of its evaluation */
	struct {
		uint32_t by;
		enum read_of of;
	} seen; /* reads_note */
};
struct module {
	const char *path; /* "src/net.tri", "std/nn.tri" */
	struct ast ast;
	name_id *names; /* by token, for those that were asked for; 0: not yet */
	bool std, loading, failed;
	bool incomplete;  /* a syntax error lies outside all items: definitions may be missing */
	span imported_at; /* the first import of it */
	struct item *items;
	uint32_t n_items;
	struct map by_name; /* name_id to item index */
	hash128 tokens;
	bool traced;     /* nothing in it has to be resolved or checked */
	bool reloaded;   /* since the last program was elaborated */
	bool unresolved; /* reloaded since its names were resolved */
};

struct elaborated;
struct unit_info;

struct frontend {
	struct sources *sources;
	struct frontend_host host;
	struct diags *diags;
	struct diags *warnings; /* shown where there are no errors */
	struct arena *arena;    /* of the work at hand: `lasting`, or what is given back after a definition has been checked */
	struct arena *lasting;  /* as long as the front end */
	struct interner *names;
	struct frontend_times times;
	struct index *index; /* NULL: nobody asks */
	const struct frontend_dependency *dependencies;
	uint32_t n_dependencies;
	VEC(struct module *) modules; /* in the order loaded */
	uint64_t n_tokens;            /* of all modules, when names were resolved last */
	VEC(uint32_t) innermost;      /* by name_id: its place in the resolver's scope plus 1, or 0, which all are between two files */
	VEC(uint32_t)
	highest; /* by name_id: the most locals that there ever were in an elaboration when one of that name came; most names never are one */
	struct map by_path;
	struct map namesakes; /* name_id → how many definitions have it */
	VEC(struct frontend_def) defs;
	struct map units;   /* identity to struct unit_info */
	struct map prelude; /* name_id to index into prelude_values */
	VEC(struct value) prelude_values;
	VEC(const char *) prelude_names;
	struct builtin_sig *builtin_sigs;
	uint32_t next_param;
	uint32_t next_instance;
	uint32_t resolved, checked; /* modules done */
	bool traces;                /* what checks read is recorded */
	bool keeps;                 /* and so is all that it takes to be refreshed: */
	bool reexports;             /* some file imports a name from one that imports it */
	uint32_t recordings;
	VEC(const char *) absent;      /* files that were looked for in vain */
	VEC(struct unit_info *) made;  /* units of calls and entries */
	struct elaborated *elaborated; /* the last program; NULL: none */
};

/* Loads a file (once) with its imports, for the import at `at`. NULL: there is no file, which is reported if it `must` be there. */
struct module *module_load(struct frontend *f, const char *path, span at, bool must, bool *ok);
uint32_t pattern_names(const struct ast *t, node_id pattern, token_id *names); /* the names that a pattern binds; their number */
/* The first of the constants that one `let` binds; a `const` itself. */
static inline struct item *item_first(struct item *it)
{
	while (it > it->mod->items && it[-1].node == it->node)
		it--;
	return it;
}
struct item *module_find(const struct module *m, name_id name);
/* The steps of loading: the tree, then the items. False: reported. */
bool module_parse(struct frontend *f, struct module *m, const struct source *src);
bool module_collect(struct frontend *f, struct module *m);
/* Another text of a loaded file in place of the one that it has, if that defines and imports the same names: false if not, or if anything is wrong with it;
 * nothing is reported then. Marks what changed. */
bool module_reload(struct frontend *f, struct module *m, const struct source *src);
/* The item that a name finally stands for: follows `from m import x`. NULL: reported. */
struct item *item_follow(struct frontend *f, struct item *it);
/* Numbers the definitions of a file that was loaded among all of their names. */
void items_number(struct frontend *f, struct module *m);
/* Which definition it is, into a key: the same after its file was renamed, or it was moved to another. */
void item_hash(struct hasher *h, const struct frontend *f, const struct item *it);

static inline const char *name_text(const struct frontend *f, name_id n) { return intern_text(f->names, n); }
name_id token_name(struct frontend *f, const struct module *m, token_id t);
static inline span node_span(const struct module *m, node_id n) { return ast_span(&m->ast, n); }
static inline span tok_span(const struct module *m, token_id t) { return token_span(&m->ast.tokens, t); }
/* The whole line of an import that stands alone on it, else the import. */
span import_line(const struct source *s, span import);
/* Does the item or member have attribute @name? Its ATTR node, or AST_NONE. */
node_id attr_find(const struct module *m, struct ast_nodes attrs, const char *name);
#endif
