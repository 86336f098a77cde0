/* Diagnostics: what went wrong, where, and what to write instead. Collected by each job, merged and sorted, then rendered. */
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
	const char *cause; /* what errors of one cause share where their messages differ; NULL: the message */
	struct diag_label primary;
	struct diag_label *secondary;
	uint32_t n_secondary;
	const char **notes;
	uint32_t n_notes;
	const char *help; /* NULL: none. A remedy in words */
	span edit;        /* where `replacement` goes; SPAN_NONE: no edit */
	const char *replacement;
	bool sound;  /* of a syntax error: the tree is what was meant, so that later stages may go on */
	bool unsure; /* the edit is a guess: shown, but not made by `check --fix` */
};

struct diags;
/* Holds at most `limit` errors and as many warnings (0: a default of 1000), then counts only. All text is copied into its own arena. */
struct diags *diags_new(uint32_t limit);
void diags_free(struct diags *d); /* NULL is accepted */

/* Starts a diagnostic at `at`; the following calls add to the one returned. Never NULL; owned by d. */
struct diag *diag_add(struct diags *d, enum diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_label_primary(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_secondary(struct diags *d, struct diag *g, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_note(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_help(struct diags *d, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Names the cause, where errors of one cause differ in their messages. */
void diag_cause(struct diags *d, struct diag *g, const char *cause);
/* Gives one cause to the errors with the code from index `from` on, if there are several. */
void diags_share_cause(struct diags *d, uint32_t from, enum diag_code code, const char *cause);
/* A change that is sure to be meant, or one that is a guess. */
void diag_edit(struct diags *d, struct diag *g, span at, const char *replacement);
void diag_guess(struct diags *d, struct diag *g, span at, const char *replacement);

uint32_t diags_errors(const struct diags *d);
uint32_t diags_warnings(const struct diags *d);
/* Errors and warnings counted but not kept, because of the limit. */
uint32_t diags_dropped(const struct diags *d);
uint32_t diags_dropped_warnings(const struct diags *d);
uint32_t diags_count(const struct diags *d);
const struct diag *diags_at(const struct diags *d, uint32_t i);
/* Appends a copy of one. */
void diags_take(struct diags *d, const struct diag *from);
/* Appends copies of all of `from`. */
void diags_merge(struct diags *d, const struct diags *from);
/* Takes away the errors that begin within `where`. */
void diags_drop(struct diags *d, span where);
/* Stable sort by source id, then start offset; removes exact duplicates. */
void diags_sort(struct diags *d);
/* The same, but by the order in which the sources were used last (sources_use). */
struct sources;
void diags_sort_by_use(struct diags *d, const struct sources *s);

/* A diagnostic's place among the errors of its file that have one cause: the first, or the first two, are reported in full, the others by their lines. */
struct diag_repeat {
	uint32_t next; /* the index of the next one that is reported by its line, with this or after it; UINT32_MAX: none */
	bool repeats;  /* reported by its line */
};
/* One for each diagnostic; the caller frees them. */
struct diag_repeat *diags_repeats(const struct diags *d);

const char *diag_code_text(enum diag_code code); /* "E0101" */
enum diag_severity diag_severity_of(enum diag_code code);
/* The code named by text such as "E0101" (case-insensitive), or DIAG_COUNT. */
enum diag_code diag_code_find(const char *text);
const char *diag_title(enum diag_code code); /* one line */
/* True if the source text could not be read as a program: an error of the classes text and syntax. */
bool diag_is_syntax_error(enum diag_code code);

/* Appends the source's text with the sure edits of `d` made; of those that overlap, the first. How many were made. */
uint32_t diags_fix(const struct diags *d, const struct source *s, struct buf *out);
bool diag_is_fixable(const struct diag *g); /* has it a sure edit? */

/* The nearest of `names` to `word` by edit distance (Damerau, at most a third of its length), or NULL. */
const char *diag_nearest(const char *word, const char *const *names, uint32_t n);
/* Help and edit for a misspelt word at `at`: "did you mean …", unless nothing is near. */
bool diag_did_you_mean(struct diags *d, struct diag *g, span at, const char *word, const char *const *names, uint32_t n);

/* For people: code, message, excerpts with labels, notes, help; what repeats an error is a line number in its note. `colour`: ANSI escapes. */
void diags_print(const struct diags *d, const struct sources *s, FILE *out, bool colour);
/* For tools: one JSON object a line, {"type":"diagnostic",…}; what repeats an error is one of its `places`. */
void diags_print_json(const struct diags *d, const struct sources *s, FILE *out);
#endif
