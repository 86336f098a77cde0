/* The front end's public face: sources in, diagnostics and an elaborated program out. Touches no disk: files come through `frontend_host`.
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
/* Before any file is added: from here on what is loaded and checked is noted in the index, which must outlive the front end. Names in it are the
 * front end's. Also definitions with syntax errors, and the standard library, are looked at then. NULL: notes end here. */
void frontend_set_index(struct frontend *f, struct index *ix);
const struct frontend_times *frontend_times(const struct frontend *f);

/* Before any file is added: what is found out is kept together with what it was found out from, for frontend_refresh. */
void frontend_enable_refresh(struct frontend *f);
/* For another build of the same files, after one without errors and warnings that elaborated a program: asks `host` for all files again, and takes in the new
 * text of those that have one. Files are added, checked and elaborated as before, but nothing is done twice whose inputs are as they were. False: too much
 * has changed, and the front end must not be used any more; nothing was reported. */
bool frontend_refresh(struct frontend *f, struct frontend_host host, struct diags *diags);
/* Before any file is added: what checks read is recorded. After a check that reported nothing, a file's record is written for the next process; that reads it
 * once all files are added, if it was written by the same build of trib, then verifies all, and what they vouch for is not checked again. A record may be
 * damaged, but not forged: then errors may be missed. */
void frontend_record_reads(struct frontend *f);
void frontend_write_checks(struct frontend *f, uint32_t file, struct buf *out);
void frontend_read_checks(struct frontend *f, uint32_t file, const void *record, size_t len);
void frontend_verify_checks(struct frontend *f);
/* Is the record as it should be, or is there none to be written? */
bool frontend_checks_recorded(const struct frontend *f, uint32_t file);
/* Bytes it has taken. */
size_t frontend_memory(const struct frontend *f);

/* Before any file is added. The list must outlive the front end. */
void frontend_set_dependencies(struct frontend *f, const struct frontend_dependency *list, uint32_t n);

/* Lexes and parses a file and, recursively, what it imports (import cycles are reported). False: errors were reported (parsing went on). */
bool frontend_add_file(struct frontend *f, const char *path);
/* Resolves names and checks types in every loaded file, also in definitions that nothing uses. False: errors were reported. */
bool frontend_check(struct frontend *f);

/* After a check without errors, of files that no manifest gives an entry: elaborates each layer that needs no arguments, for the errors that only
 * sizes show. False: errors were reported. */
bool frontend_try_layers(struct frontend *f);

/* What a file is built for where nobody names it: its last definition with `@export`, else its last layer that needs no arguments, or its last layer, or
 * function. NULL: it has none. */
const char *frontend_default_entry(struct frontend *f, const char *path);

uint32_t frontend_defs(const struct frontend *f, const struct frontend_def **defs);
/* Files loaded, the standard library's as "std/nn.tri", in the order loaded. */
uint32_t frontend_files(const struct frontend *f);
const char *frontend_file_path(const struct frontend *f, uint32_t i);
hash128 frontend_file_tokens(const struct frontend *f, uint32_t i); /* digest of its definitions' and imports' token hashes */

/* An argument of a layer in the functional form, or of a function, as it is declared. */
struct frontend_arg {
	const char *name, *type; /* type: its source text; NULL: none is declared */
	bool has_default;
};
/* The arguments of an entry of that form, in `a`; NULL: the files have none of that name. After frontend_check. */
const struct frontend_arg *frontend_entry_args(struct frontend *f, const char *entry, struct arena *a, uint32_t *n);
/* Has the file (as loaded) a main block? */
bool frontend_has_main(const struct frontend *f, uint32_t file);
/* Elaborates the entries into units. NULL: errors were reported. */
struct hir_program *frontend_elaborate(struct frontend *f, const struct elab_request *req);

/* Dumps for --dump-tokens, --dump-ast. */
void frontend_dump_tokens(struct frontend *f, const char *path, struct buf *out);
void frontend_dump_ast(struct frontend *f, const char *path, struct buf *out);
#endif
