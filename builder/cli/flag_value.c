/* The value of a flag, by the kind of the flag. */
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/cli/flags.h"
#include "builder/manifest/manifest.h"
#include "builder/profile/figures.h"

/* Numbers: the range, and what the error asks for. */
static const struct {
	double min, max;
	const char *wants;
} ranges[] = {
	[FLAG_COUNT] = {1, MAX_JOBS, "a positive number"},
	[FLAG_LIMIT] = {0, 1e6, "a number"},
	[FLAG_LOAD] = {DBL_MIN, 1e6, "a positive number, e.g. 2.5"},
	[FLAG_TOLERANCE] = {0, 1e300, "a number that is not negative, e.g. 1e-4"},
};
static const char *const stages[] = {
	"", "lex", "parse", "typecheck", "elaborate", "ir", "opt", "codegen",
#define PROGRAM_PASS(id, text, ...) text,
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
#define PASS(id, text, ...) text,
#include "backend/passes/passes.def"
#undef PASS
#define LOOP_PASS(id, text, ...) text,
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
};
static const char *const program_texts[] = {
	"summaries",
#define PROGRAM_PASS(id, text, ...) text,
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
};
static const char *const ir_texts[] = {"lowered",
#define PASS(id, text, ...) text,
#include "backend/passes/passes.def"
#undef PASS
				       "build_fn", "run_fn"};
static const char *const loop_texts[] = {
#define LOOP_PASS(id, text, ...) text,
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
};
static const char *const dumps[] = {
	"",
#define DUMP(id, text) "dump-" text,
#include "builder/manifest/dumps.def"
};
static const char *const colors[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
static const char *const message_formats[] = {"human", "json"};
static const char *const annotations[] = {[ANNOTATE_NONE] = "none", [ANNOTATE_GITHUB] = "github", [ANNOTATE_GITLAB] = "gitlab"};
static const char *const text_formats[] = {[PRINT_TEXT] = "text", [PRINT_JSON] = "json"};
static const char *const report_formats[] = {
	[PRINT_TEXT] = "text", [PRINT_JSON] = "json", [PRINT_HTML] = "", [PRINT_MARKDOWN] = "markdown"};
static const char *const scenarios[] = {
#define SCENARIO(id, name, meaning) name,
#include "builder/profile/scenarios.def"
};
static const char *const metrics[] = {"cpu", "wall", "instructions"};
static const char *const graph_formats[] = {[PRINT_TEXT] = "dot", [PRINT_JSON] = "json", [PRINT_HTML] = "html"};

#define WORDS(list) {list, sizeof(list) / sizeof *(list)}
static const struct {
	const char *const *list;
	uint32_t n;
} words[FLAG_KINDS] = {
	[FLAG_DUMP_PROGRAM] = WORDS(program_texts),
	[FLAG_DUMP_IR] = WORDS(ir_texts),
	[FLAG_DUMP_LOOPS] = WORDS(loop_texts),
	[FLAG_STAGE] = WORDS(stages),
	[FLAG_COLOR] = WORDS(colors),
	[FLAG_MESSAGE_FORMAT] = WORDS(message_formats),
	[FLAG_TEXT_FORMAT] = WORDS(text_formats),
	[FLAG_GRAPH_FORMAT] = WORDS(graph_formats),
	[FLAG_REPORT_FORMAT] = WORDS(report_formats),
	[FLAG_SCENARIO] = WORDS(scenarios),
	[FLAG_ANNOTATIONS] = WORDS(annotations),
	[FLAG_METRIC] = WORDS(metrics),
};

const char *const *flag_words(enum flag_kind kind, uint32_t *n)
{
	*n = words[kind].n;
	return words[kind].list;
}

static bool wants(const struct flag *f, const char *what, const char *value, const char *near, struct buf *error)
{
	buf_printf(error, "--%s wants %s, not `%s`", f->name, what, value);
	if (near)
		buf_printf(error, "; did you mean `%s`?", near);
	return false;
}

static bool set_int(const struct flag *f, const char *value, int *out, struct buf *error)
{
	uint64_t n;
	if (!manifest_parse_count(value, &n) || (double)n < ranges[f->kind].min || (double)n > ranges[f->kind].max)
		return wants(f, ranges[f->kind].wants, value, NULL, error);
	*out = (int)n;
	return true;
}

static bool set_double(const struct flag *f, const char *value, double *out, struct buf *error)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || !(v >= ranges[f->kind].min && v <= ranges[f->kind].max))
		return wants(f, ranges[f->kind].wants, value, NULL, error);
	*out = v;
	return true;
}

/* Sets the index of the value among the words of the flag. */
static bool set_word(const struct flag *f, const char *value, uint32_t *out, struct buf *error)
{
	struct buf list = {0};
	uint32_t n, i = 0;
	const char *const *all = flag_words(f->kind, &n);
	while (i < n && !(*all[i] && strcmp(all[i], value) == 0))
		i++;
	*out = i;
	if (i < n)
		return true;
	for (i = 0; i < n; i++)
		if (*all[i])
			buf_printf(&list, "%s%s", !list.len ? "" : i + 1 == n ? " or " : ", ", all[i]);
	wants(f, list.at, value, diag_nearest(value, all, n), error);
	buf_free(&list);
	return false;
}

static bool set_emit(const struct flag *f, const char *value, struct arena *a, const char **out, struct buf *error)
{
	uint64_t set;
	uint32_t n;
	const char *bad, *const *names = emit_names(&n);
	*out = value;
	if (manifest_parse_emit(a, value, &set, &bad))
		return true;
	bad = *bad ? bad : value;
	return wants(f, arena_printf(a, "some of %s", manifest_emit_list(a)), bad, diag_nearest(bad, names, n), error);
}

static bool set_level(const char *value, int *out, struct buf *error)
{
	uint64_t n;
	if (!manifest_parse_opt(value, &n)) {
		buf_printf(error, "-O wants 0, 1, 2, 3 or s, not `%s`", value);
		return false;
	}
	*out = (int)n;
	return true;
}

static void flag_value_append(const struct flag *f, const char *value, struct options *o)
{
	bool is_input = f->member == offsetof(struct options, inputs);
	const char **list = (const char **)(uintptr_t)(is_input ? o->inputs : o->run.outputs);
	list[is_input ? o->n_inputs++ : o->run.n_outputs++] = value;
}

/* "cpu,1" means "cpu,opencl:1". */
static const char *spell_devices(struct arena *a, const char *value)
{
	struct buf text = {0};
	for (const char *at = value; *at; at += *at == ',') {
		size_t n = strcspn(at, ","), digits = strspn(at, "0123456789");
		buf_printf(&text, "%s%s%.*s", at > value ? "," : "", n && digits == n ? "opencl:" : "", (int)n, at);
		at += n;
	}
	const char *out = arena_strdup(a, text.at ? text.at : value);
	buf_free(&text);
	return out;
}

static void add_dump(const struct flag *f, struct options *o)
{
	uint32_t dump = 0;
	while (strcmp(dumps[dump], f->name) != 0)
		dump++;
	o->dumps |= 1u << dump;
}

static bool set_dump(const struct flag *f, const char *value, const char **after, struct options *o, struct buf *error)
{
	uint32_t word;
	*after = value;
	add_dump(f, o);
	return !value || set_word(f, value, &word, error);
}

static bool set_duration(const struct flag *f, const char *value, double *out, struct buf *error)
{
	enum metric_unit unit;
	if (figure_parse(value, &unit, out) && unit == UNIT_NS)
		return true;
	return wants(f, "a time, e.g. 500ms or 2s", value, NULL, error);
}

bool flag_set(const struct flag *f, const char *value, struct arena *a, struct options *options, struct buf *error)
{
	void *member = (char *)options + f->member;
	switch (f->kind) {
	case FLAG_TRI: *(int *)member = 1; return true;
	case FLAG_BOOL: *(bool *)member = true; return true;
	case FLAG_LIMIT: *(int *)member = 0; return !value || set_int(f, value, member, error);
	case FLAG_COUNT: return set_int(f, value, member, error);
	case FLAG_LOAD:
	case FLAG_TOLERANCE: return set_double(f, value, member, error);
	case FLAG_DURATION: return set_duration(f, value, member, error);
	case FLAG_TEXT:
	case FLAG_PATH:
	case FLAG_PROGRAM: *(const char **)member = value; return true;
	case FLAG_LIST: flag_value_append(f, value, options); return true;
	case FLAG_LEVEL: return set_level(value, member, error);
	case FLAG_EMIT: return set_emit(f, value, a, member, error);
	case FLAG_DEVICES: *(const char **)member = spell_devices(a, value); return true;
	case FLAG_DUMP: add_dump(f, options); return true;
	case FLAG_DUMP_EMIT:
		*(const char **)member = strcmp(f->name, "dump-cuda") == 0 ? "cuda" : "opencl-source";
		options->dumps |= 1u << DUMP_CODE;
		return true;
	case FLAG_DUMP_PROGRAM:
	case FLAG_DUMP_IR:
	case FLAG_DUMP_LOOPS: return set_dump(f, value, member, options, error);
	default: return set_word(f, value, member, error);
	}
}
