/* One look at a workspace: its files, open or on disk, loaded and checked, with everything that editors ask about them. */
#ifndef TRIB_BUILDER_LSP_ANALYSIS_H
#define TRIB_BUILDER_LSP_ANALYSIS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/map.h"
#include "base/source.h"
#include "builder/deps/dependency.h"

struct arena;
struct build_spec;
struct diags;
struct document;
struct frontend;
struct index;
struct server;
struct workspace;

struct analysis {
	struct server *server;
	const struct workspace *ws;
	const struct probe *probe;
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct frontend *frontend;
	struct index *index;
	struct map loaded;                /* path to source id + 1, 0: absent */
	struct map looked_for;            /* absolute paths of files, also of those that are absent */
	struct dependencies dependencies; /* as they are linked */
	struct build_spec *spec;          /* what the manifest says; NULL: there is none, or it has errors */
	uint32_t elaborated;              /* models of it that are done */
};
/* A document with a changed text, to see what could stand at a place of it. */
struct probe {
	const struct document *document;
	const char *text;
	size_t len, offset;
};

/* Checks everything now; with a probe only its document and what that imports. `probe` may be NULL. */
struct analysis *analysis_new(struct server *s, const struct workspace *ws, const struct probe *probe);
void analysis_free(struct analysis *a); /* NULL is accepted */
/* Are there models that only their elaboration would judge? It is dearer than the check, and shows what only the sizes of a whole model show. */
bool analysis_unfinished(const struct analysis *a);
/* Elaborates the next of them. */
void analysis_continue(struct analysis *a);
/* The source of an absolute path; NULL: it is not part of the workspace. */
const struct source *analysis_source(const struct analysis *a, const char *path);
/* The absolute path of a source, in the arena. */
const char *analysis_path(const struct analysis *a, uint32_t source);
#endif
