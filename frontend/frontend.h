/* The front end's public interface: sources in, diagnostics and an elaborated program out. It reads no files itself: `frontend_host` does.
 * All results live as long as the `struct frontend`. Single-threaded. */
#ifndef TRIB_FRONTEND_FRONTEND_H
#define TRIB_FRONTEND_FRONTEND_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"
#include "frontend/names/host.h"
#include "frontend/std/std.h"
#include "frontend/unit/request.h"

struct arena;
struct diags;
struct buf;
struct hir_program;
struct frontend;
struct index;

struct frontend *frontend_new(struct sources *sources, struct frontend_host host, struct diags *diags);
void frontend_free(struct frontend *f); /* NULL is accepted */
/* Fills the index while files are loaded and checked, including definitions with syntax errors and the standard library. Call it before
 * any file is added. The index must outlive the front end, which owns its names. NULL: stops filling it. */
void frontend_set_index(struct frontend *f, struct index *ix);
const struct frontend_times *frontend_times(const struct frontend *f);

/* Records the inputs of each step, for frontend_refresh. Call it before any file is added. */
void frontend_enable_refresh(struct frontend *f);
/* Starts another build of the same files, after one that elaborated a program without errors and warnings. Loads all files again from
 * `host`. The caller then adds, checks and elaborates as before; steps with unchanged inputs are skipped. False: too much has changed,
 * and the front end must be freed; nothing was reported. */
bool frontend_refresh(struct frontend *f, struct frontend_host host, struct diags *diags);
/* Records what each check reads. Call it before any file is added. After a check without reports, frontend_write_checks makes a record
 * of each file for the next process. That process adds all files, reads the records of the same build of trib, and verifies them
 * together; valid checks are skipped. A damaged record is detected, a forged one is not. */
void frontend_record_reads(struct frontend *f);
void frontend_write_checks(struct frontend *f, uint32_t file, struct buf *out);
void frontend_read_checks(struct frontend *f, uint32_t file, const void *record, size_t len);
void frontend_verify_checks(struct frontend *f);
/* True if the file's record is valid, or none can be written. */
bool frontend_checks_recorded(const struct frontend *f, uint32_t file);
/* Bytes of memory in use. */
size_t frontend_memory(const struct frontend *f);

/* Call it before any file is added. The list must outlive the front end. */
void frontend_set_dependencies(struct frontend *f, const struct frontend_dependency *list, uint32_t n);

/* Lexes and parses a file and, recursively, its imports; reports import cycles. False: errors were reported; the rest was parsed. */
bool frontend_add_file(struct frontend *f, const char *path);
/* Resolves names and checks types in every loaded file, including unused definitions. False: errors were reported. */
bool frontend_check(struct frontend *f);

/* After a check without errors, for files without a manifest: elaborates each layer that needs no arguments, and checks the unused layers
 * that need some with the defaults of the others, to find errors that depend on sizes. False: errors were reported. */
bool frontend_try_layers(struct frontend *f);

/* The entry of a file that is built without a manifest: its last definition with `@export`, else its last layer that needs no arguments,
 * its last layer, or its last function. NULL: it has none of these. */
const char *frontend_default_entry(struct frontend *f, const char *path);

/* Makes a guess of each certain edit in `diags` after which the loaded files have more errors than before, or one at its place. Checks the
 * edited texts in front ends of their own. Call it before the edits are shown or made. */
void frontend_verify_edits(const struct frontend *f, struct diags *diags);

uint32_t frontend_defs(const struct frontend *f, const struct frontend_def **defs);
/* The number of loaded files, in the order loaded. The standard library's are "std/nn.tri" and so on. */
uint32_t frontend_files(const struct frontend *f);
const char *frontend_file_path(const struct frontend *f, uint32_t i);
hash128 frontend_file_tokens(const struct frontend *f, uint32_t i); /* hash of its definitions and imports */
hash128 frontend_file_lines(const struct frontend *f, uint32_t i);  /* hash of the lines and columns of its tokens */

/* A declared argument of a function, or of a layer without members. */
struct frontend_arg {
	const char *name, *type; /* type: its source text; NULL: none is declared */
	bool has_default;
	span at; /* its name */
};
/* The declared arguments of such an entry, in `a`. NULL: no file defines it. Call it after frontend_check. */
const struct frontend_arg *frontend_entry_args(struct frontend *f, const char *entry, struct arena *a, uint32_t *n);
/* True if the file has a main block. `file`: its number in the order loaded. */
bool frontend_has_main(const struct frontend *f, uint32_t file);
/* Elaborates the entries into units. NULL: errors were reported. */
struct hir_program *frontend_elaborate(struct frontend *f, const struct elab_request *req);

/* Dumps for --dump-tokens, --dump-ast. */
void frontend_dump_tokens(struct frontend *f, const char *path, struct buf *out);
void frontend_dump_ast(struct frontend *f, const char *path, struct buf *out);
#endif
