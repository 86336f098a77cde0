/* Diagnostics: what is wrong, where, and what to write instead. Each job collects its own; they are merged, sorted and printed. */
#ifndef TRIB_BASE_DIAG_H
#define TRIB_BASE_DIAG_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/source.h"

struct arena;
struct buf;

enum diag_code {
#define DIAG(id, code, class, severity, title) DIAG_##id,
#include "base/diags.def"
#undef DIAG
	DIAG_COUNT
};
/* What a diagnostic is about. TEXT: characters and tokens; BACKEND: errors of trib itself. */
enum diag_class {
	DIAG_CLASS_TEXT,
	DIAG_CLASS_SYNTAX,
	DIAG_CLASS_NAMES,
	DIAG_CLASS_TYPES,
	DIAG_CLASS_SHAPES,
	DIAG_CLASS_ELABORATION,
	DIAG_CLASS_WEIGHTS,
	DIAG_CLASS_MANIFEST,
	DIAG_CLASS_SYSTEM,
	DIAG_CLASS_BACKEND
};
enum diag_severity { SEV_ERROR, SEV_WARNING, SEV_NOTE };

struct diag_label {
	span at;
	const char *text; /* may be "" */
};
struct diag {
	enum diag_code code;
	const char *message;
	const char *cause; /* the same text for errors of one cause whose messages differ; NULL: the message */
	struct diag_label primary;
	struct diag_label *secondary;
	uint32_t n_secondary;
	const char **notes;
	uint32_t n_notes;
	const char *help; /* what to do, in words; NULL: none */
	span edit;        /* where `replacement` goes; SPAN_NONE: no edit */
	const char *replacement;
	bool is_recovered; /* a syntax error after which the tree is as intended, so that later stages go on */
	bool is_guess;     /* the edit is a guess, which `check --fix` does not make */
};

struct diags;
/* Stores at most `limit` errors and as many warnings (0: a default of 1000); the rest are only counted. Texts are copied into its own
 * arena. */
struct diags *diags_new(uint32_t limit);
void diags_free(struct diags *d); /* NULL is accepted */

/* Adds a diagnostic at `at` and returns it, owned by d and never NULL. The following functions add to it. */
struct diag *diag_add(struct diags *d, enum diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_label_primary(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_secondary(struct diags *d, struct diag *g, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_note(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_help(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Sets the cause, for errors of one cause whose messages differ. */
void diag_cause(struct diags *d, struct diag *g, const char *cause);
/* Sets the cause of all errors with this code from index `from` on, if there are several. */
void diags_share_cause(struct diags *d, uint32_t from, enum diag_code code, const char *cause);
/* Adds a span to each of the diagnostics from index `from` on. */
void diags_secondary(struct diags *d, uint32_t from, span at, const char *text);
/* Sets the edit: a certain one, or a guess. */
void diag_edit(struct diags *d, struct diag *g, span at, const char *replacement);
void diag_guess(struct diags *d, struct diag *g, span at, const char *replacement);

uint32_t diags_errors(const struct diags *d);
uint32_t diags_warnings(const struct diags *d);
/* Errors and warnings beyond the limit, which were only counted. */
uint32_t diags_dropped(const struct diags *d);
uint32_t diags_dropped_warnings(const struct diags *d);
uint32_t diags_count(const struct diags *d);
const struct diag *diags_at(const struct diags *d, uint32_t i);
/* Appends a copy of one diagnostic. */
void diags_add_copy(struct diags *d, const struct diag *from);
/* Appends copies of all diagnostics of `from`. */
void diags_merge(struct diags *d, const struct diags *from);
/* Adds those of one class. */
void diags_merge_class(struct diags *d, const struct diags *from, enum diag_class only);
/* Stable sort by source id, then start offset; removes exact duplicates. */
void diags_sort(struct diags *d);
/* The same, but sources are in the order of their last use (sources_use). */
struct sources;
void diags_sort_by_use(struct diags *d, const struct sources *s);

/* Errors of one file with one cause: the first, or the first two, are reported in full, the others by their line numbers. */
struct diag_repeat {
	uint32_t next; /* index of the next error that is reported by its line; UINT32_MAX: none */
	bool repeats;  /* this one is reported by its line */
};
/* Returns one for each diagnostic; the caller frees the array. */
struct diag_repeat *diags_repeats(const struct diags *d);

const char *diag_code_text(enum diag_code code); /* "E0101" */
enum diag_severity diag_severity_of(enum diag_code code);
/* The code with this text, for example "E0101" (case-insensitive); DIAG_COUNT: none. */
enum diag_code diag_code_find(const char *text);
const char *diag_title(enum diag_code code); /* one line */
/* True if the source text could not be read as a program: an error of the classes text and syntax. */
bool diag_is_syntax_error(enum diag_code code);

/* Appends the source's text with all certain edits of `d`. Of edits that overlap only the first is made. Returns their number. */
uint32_t diags_fix(const struct diags *d, const struct source *s, struct buf *out);
/* The same with the edits of the chosen diagnostics only. made[i]: where the text has the replacement of diagnostic i; others are left. */
uint32_t diags_fix_some(const struct diags *d, const struct source *s, const bool *chosen, span *made, struct buf *out);
bool diag_is_fixable(const struct diag *g); /* true if it has a certain edit */
/* Makes the edit of diagnostic i a guess. */
void diags_doubt_edit(struct diags *d, uint32_t i);

/* The nearest of `names` to `word` by edit distance (Damerau, at most a third of its length), or NULL. */
const char *diag_nearest(const char *word, const char *const *names, uint32_t n);
/* Adds "did you mean …" and an edit for a misspelt word at `at`. False: no name is near. */
bool diag_did_you_mean(struct diags *d, struct diag *g, span at, const char *word, const char *const *names, uint32_t n);

/* Prints for people: code, message, excerpts with labels, notes, help. Repeated errors are line numbers in a note. `colour`: with ANSI
 * escapes. */
void diags_print(const struct diags *d, const struct sources *s, FILE *out, bool colour);
/* Prints one JSON object in each line, {"type":"diagnostic",…}. Repeated errors are in the `places` of the first. */
void diags_print_json(const struct diags *d, const struct sources *s, FILE *out);

/* Append annotations of CI services. folder: of the sources, from the root of the repository; may be "". */
void diags_print_github(const struct diags *d, const struct sources *s, const char *folder, struct buf *out); /* a workflow command each */
void diags_print_gitlab(const struct diags *d, const struct sources *s, const char *folder, struct buf *out); /* a code quality report */
#endif
