/* The checked files of a workspace, open or on disk, with an index for the questions of editors. */
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
struct editor_state;
struct frontend;
struct index;
struct manifest;
struct workspace;

struct analysis {
	const struct editor_state *state;
	const struct workspace *workspace;
	const struct edited_document *edited; /* NULL after the check */
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct frontend *frontend;
	struct index *index;
	struct map loaded;                /* path to source id + 1; 0 if the file is missing */
	struct map looked_for;            /* absolute paths of files, present or missing */
	struct dependencies dependencies; /* as linked in the project */
	const struct manifest *manifest;  /* NULL: none was read */
	struct build_spec *spec;          /* of the manifest; NULL if there is none, or it has errors */
	uint32_t n_elaborated;            /* models of the spec that are elaborated */
	bool edits_verified;              /* the edits in `diags` */
};
/* A document with an inserted name, to ask the index for the candidates at an offset. */
struct edited_document {
	const struct document *document;
	const char *text;
	size_t len, offset;
};

/* Checks the workspace. With `edited`, checks only that document and its imports. */
struct analysis *analysis_new(const struct editor_state *state, const struct workspace *ws, const struct edited_document *edited);
void analysis_free(struct analysis *a); /* NULL is accepted */
/* True if a model is not elaborated yet. Elaboration takes longer than the check, and finds errors that depend on a model's sizes. */
bool analysis_has_models_left(const struct analysis *a);
/* Elaborates the next model. */
void analysis_elaborate_next(struct analysis *a);
/* Makes a guess of each certain edit that would make the workspace worse. Checks what the edits make of it. */
void analysis_verify_edits(struct analysis *a);
/* Returns the source of an absolute path; NULL if it is not part of the workspace. */
const struct source *analysis_source(const struct analysis *a, const char *path);
/* Returns the absolute path of a source, in the arena. */
const char *analysis_path(const struct analysis *a, uint32_t source);
#endif
