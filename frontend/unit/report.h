/* Errors with the path of calls that led to them, suppression, and the limits of one elaboration. */
#ifndef TRIB_FRONTEND_UNIT_REPORT_H
#define TRIB_FRONTEND_UNIT_REPORT_H
#include "base/diag.h"
#include "frontend/unit/value.h"

struct buf;
struct builder;
struct emitter;

enum { ELAB_MAX_DEPTH = 1200, ELAB_MAX_FRAMES = 100, ELAB_MAX_STEPS = 2000000, ELAB_STEPS_PER_TOKEN = 200, ELAB_MAX_ARGS = 64 };
enum { MOST_REPEATED = 2, MAX_SITE_OPERANDS = 3, RECENT_MESSAGES = 8 };

/* A call on the way to the code under elaboration; errors are labelled with it. */
struct call_site {
	const struct call_site *up;
	span at;                      /* SPAN_NONE: not called from source */
	const char *callee;           /* "layer instance `fc2`"; NULL: not labelled */
	const struct instance *self;  /* the layer instance whose code runs; NULL: none */
	const struct builder *caller; /* the unit that has the operands */
	uint32_t n_operands;
	hir_ref operands[MAX_SITE_OPERANDS]; /* the first tensors among the arguments */
};
struct reporter {
	struct diags *out;       /* where errors go: the front end's, or `discarded` while suppressed */
	struct diags *discarded; /* what is reported there is never printed */
	int suppressed;          /* nested calls of suppress_diags */
	uint32_t errors;         /* reported, also while suppressed */
	const struct call_site *site;
	bool about_call; /* the error is a message of the standard library to its caller: no label in the library */
	struct {
		uint64_t message;
		uint32_t times;
	} recent[RECENT_MESSAGES]; /* the last different messages about arguments */
	uint32_t n_recent;
	/* limits */
	uint64_t steps, max_steps;
	uint32_t depth;  /* of nested expressions */
	uint32_t frames; /* of nested calls */
	bool gave_up;    /* a limit was hit and reported */
};

/* Adds an error with labels along the path of calls; callers add to it through e->report.out. */
struct diag *report_error(struct emitter *e, enum diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same as an expression: poison, or false. */
#define report_poison(...) (report_error(__VA_ARGS__), VALUE_POISON)
#define report_false(...) (report_error(__VA_ARGS__), false)
/* Until the matching restore_diags, errors are counted but not printed. */
void suppress_diags(struct emitter *e);
void restore_diags(struct emitter *e);
/* Labels the expression that made a tensor of builder b, unless it is inside `seen`. */
void label_origin(struct emitter *e, struct diag *g, const struct builder *b, hir_ref r, span seen);
/* True in the text of the standard library. */
bool is_in_std(const struct emitter *e, span at);
/* Notes the path of the layer instance with the error, from the entry: "layer1.0.conv2" (instance_path.c). */
/* The path of a layer of a list, such as `blocks.0`; "": it is in none. */
const char *path_in_list(struct emitter *e, const struct instance *in);
void note_instance_path(struct emitter *e, struct diag *g);
/* Reports, once, a functional layer that lacks arguments and is used as a value at `used`, at the call that made it. False: v is none, or it
 * was also called as a layer, so that no argument was forgotten (nothing reported). */
bool report_missing_arguments(struct emitter *e, struct value v, span used);
/* Help for sizes a and b of `in` that do not fit because one is known only at run time. */
void help_unknown_size(struct emitter *e, struct diag *g, const struct dims *in, dim a, dim b);

/* ---- limits ---- */
/* Counts a step. False: a limit was reached, which is reported once. */
bool count_step(struct emitter *e, span at);
/* False if a list or tuple is too large or nested too deeply (reported). */
bool check_list_size(struct emitter *e, struct value v, span at);
/* The list or tuple, with its size counted as steps; poison if check_list_size fails. */
struct value checked_list(struct emitter *e, struct value v, span at);
/* A string made by the program; poison if it is too long (reported). */
struct value checked_string(struct emitter *e, const char *s, size_t n, span at);

/* ---- texts for messages, in the front end's arena ---- */
const char *take_text(struct emitter *e, struct buf *b);             /* frees the buffer */
const char *type_text(struct emitter *e, hir_ref r);                 /* "float32[N, 64]" */
const char *shape_text(struct emitter *e, const struct hir_type *t); /* "[N, 64]" */
const char *value_text(struct emitter *e, struct value v);           /* "a tensor float32[N, 64]", "the integer 3" */
const char *text_join(struct emitter *e, const char *a, const char *b, const char *c, const char *d);
const char *source_excerpt(struct emitter *e, span at); /* the source in backquotes, shortened to one line */
#endif
