#include "builder/cli/args.h"
#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/cli/actions.h"
#include "builder/cli/help.h"
#include "builder/manifest/manifest.h"
#include "builder/run/run_input.h"

enum kind {
	OPT_FLAG,
	OPT_BOOL,
	OPT_COUNT,
	OPT_LIMIT,
	OPT_LOAD,
	OPT_TOLERANCE,
	OPT_TEXT,
	OPT_PATH,
	OPT_PROGRAM,
	OPT_LIST,
	OPT_LEVEL,
	OPT_EMIT,
	OPT_FORMAT,
	OPT_STAGE,
	OPT_DUMP,
	OPT_COLOR
};
#define IN(id) (UINT64_C(1) << COMMAND_##id)
#define OF(id) (UINT64_C(1) << COMMAND_OF_##id | UINT64_C(1) << (32 + ACTION_##id))
_Static_assert(COMMAND_COUNT <= 32 && ACTION_COUNT <= 32, "one bit each");
enum {
#define ACTION(command, id, text, least, most, operands, help) COMMAND_OF_##id = COMMAND_##command,
#include "builder/cli/actions.def"
#undef ACTION
};

static const struct option {
	char letter;
	const char *name, *takes;
	enum kind kind;
	size_t member;
	uint64_t commands; /* a bit for each command, from bit 32 on for each action */
	const char *help;
} options[] = {
#define OPTION(letter, name, takes, kind, member, commands, help) \
	{letter, name, takes, OPT_##kind, offsetof(struct options, member), commands, help},
#include "builder/cli/options.def"
#undef OPTION
};
enum { MOST_JOBS = 100000, N_OPTIONS = sizeof options / sizeof *options };

static const struct {
	const char *text, *operands, *help;
} commands[] = {
#define COMMAND(id, name, operands, help) {#name, operands, help},
#include "builder/cli/commands.def"
#undef COMMAND
};
enum relation { RELATION_NEEDS, RELATION_EXCLUDES };
static const struct {
	enum command command;
	const char *flag;
	enum relation relation;
	const char *other;
} relations[] = {
#define RELATION(command, flag, relation, other) {COMMAND_##command, flag, RELATION_##relation, other},
#include "builder/cli/relations.def"
#undef RELATION
};
static const char *const stages[] = {"", "lex", "parse", "typecheck", "elaborate", "ir", "opt", "codegen"};
static const char *const dumps[] = {"", "dump-tokens", "dump-ast", "dump-types", "dump-ir", "dump-loops", "dump-llvm", "dump-asm"};

const char *command_text(enum command c) { return commands[c].text; }
const char *command_operands(enum command c) { return commands[c].operands; }
const char *command_help(enum command c) { return commands[c].help; }

enum status command_run(enum command c, const struct options *o)
{
	static enum status (*const run[])(const struct options *) = {
#define COMMAND(id, name, operands, help) cmd_##name,
#include "builder/cli/commands.def"
#undef COMMAND
	};
	return run[c](o);
}

struct parse {
	struct arena *a;
	struct args *out;
	struct buf *error;
	char **argv;
	int argc, at;
	bool given[N_OPTIONS];
	bool wants_file; /* `trib compile` */
	VEC(const char *) operands, inputs, outputs, command;
};

static bool fail(struct parse *p, const char *fmt, const char *word)
{
	buf_printf(p->error, "%s `%s`", fmt, word);
	return false;
}

static bool suggest(struct parse *p, const char *near)
{
	if (near)
		buf_printf(p->error, "; did you mean `%s`?", near);
	return false;
}

static uint32_t index_of(const char *text, const char *const *list, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && strcmp(list[i], text) != 0)
		i++;
	return i;
}

static bool set_stage(struct parse *p, const char *value)
{
	enum { N = sizeof stages / sizeof *stages };
	uint32_t i = index_of(value, stages, N);
	if (i == 0 || i == N) {
		fail(p, "--stop-after knows no stage", value);
		return suggest(p, diag_nearest(value, stages + 1, N - 1));
	}
	p->out->options.stop = (enum stop_stage)i;
	return true;
}

static bool set_count(struct parse *p, const struct option *o, const char *value, int *field)
{
	uint64_t n;
	if (!manifest_parse_count(value, &n) || n == 0 || n > MOST_JOBS) {
		buf_printf(p->error, "--%s wants a positive number, not `%s`", o->name, value);
		return false;
	}
	*field = (int)n;
	return true;
}

/* NULL: no limit. */
static bool set_limit(struct parse *p, const struct option *o, const char *value, int *field)
{
	uint64_t n = 0;
	if (value && (!manifest_parse_count(value, &n) || n > 1000000)) {
		buf_printf(p->error, "--%s wants a number, not `%s`", o->name, value);
		return false;
	}
	*field = (int)n;
	return true;
}

static bool set_load(struct parse *p, const struct option *o, const char *value, double *field)
{
	char *end;
	double load = strtod(value, &end);
	if (end == value || *end || !(load > 0 && load < 1e6)) {
		buf_printf(p->error, "--%s wants a positive number, e.g. 2.5, not `%s`", o->name, value);
		return false;
	}
	*field = load;
	return true;
}

static bool set_tolerance(struct parse *p, const struct option *o, const char *value, double *field)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || !(v >= 0 && v <= 1e300)) {
		buf_printf(p->error, "--%s wants a number that is not negative, e.g. 1e-4, not `%s`", o->name, value);
		return false;
	}
	*field = v;
	return true;
}

static bool set_color(struct parse *p, const char *value)
{
	static const char *const names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
	enum { N = sizeof names / sizeof *names };
	uint32_t i = index_of(value, names, N);
	if (i == N) {
		fail(p, "--color wants auto, always or never, not", value);
		return suggest(p, diag_nearest(value, names, N));
	}
	p->out->options.color = (enum color_when)i;
	return true;
}

static bool set_emit_fails(struct parse *p, const char *value)
{
	uint32_t n;
	const char *const *names = emit_names(&n);
	buf_printf(p->error, "--emit wants some of %s, not `%s`", manifest_emit_list(p->a), value);
	return suggest(p, diag_nearest(value, names, n));
}

/* Only a list may be given several times; -vv is -v. */
static bool may_repeat(const struct option *o)
{
	return o->kind == OPT_LIST || o->letter == 'v' || strcmp(o->name, "help") == 0 || strcmp(o->name, "version") == 0;
}

static bool set(struct parse *p, const struct option *o, const char *value)
{
	if (p->given[o - options] && !may_repeat(o)) {
		buf_printf(p->error, "--%s is given twice", o->name);
		return false;
	}
	p->given[o - options] = true;
	char *member = (char *)&p->out->options + o->member;
	uint64_t n;
	const char *bad;
	switch (o->kind) {
	case OPT_FLAG: *(int *)(void *)member = 1; return true;
	case OPT_BOOL: *(bool *)member = true; return true;
	case OPT_COUNT: return set_count(p, o, value, (int *)(void *)member);
	case OPT_LIMIT: return set_limit(p, o, value, (int *)(void *)member);
	case OPT_LOAD: return set_load(p, o, value, (double *)(void *)member);
	case OPT_TOLERANCE: return set_tolerance(p, o, value, (double *)(void *)member);
	case OPT_TEXT:
	case OPT_PATH:
	case OPT_PROGRAM: *(const char **)(void *)member = value; return true;
	case OPT_LIST:
		if (o->member == offsetof(struct options, inputs))
			vec_push(&p->inputs, value);
		else
			vec_push(&p->outputs, value);
		return true;
	case OPT_LEVEL:
		if (!manifest_parse_opt(value, &n))
			return fail(p, "-O wants 0, 1, 2, 3 or s, not", value);
		p->out->options.opt = (int)n;
		return true;
	case OPT_EMIT:
		if (!manifest_parse_emit(p->a, value, &n, &bad))
			return set_emit_fails(p, *bad ? bad : value);
		p->out->options.emit = value;
		return true;
	case OPT_FORMAT:
		if (strcmp(value, "json") != 0 && strcmp(value, "human") != 0)
			return fail(p, "--message-format wants human or json, not", value);
		p->out->options.json = value[0] == 'j';
		return true;
	case OPT_STAGE: return set_stage(p, value);
	case OPT_COLOR: return set_color(p, value);
	case OPT_DUMP: p->out->options.dumps |= 1u << index_of(o->name, dumps, sizeof dumps / sizeof *dumps); return true;
	}
	return false;
}

/* True if the command takes the flag; with an action, if that one does. */
static bool takes(const struct option *o, enum command c, enum action a)
{
	bool some = false, this = false;
	for (uint32_t i = 1; i < ACTION_COUNT; i++)
		if (action_is_of((enum action)i, c) && o->commands >> (32 + i) & 1) {
			some = true;
			this = this || i == a;
		}
	return (o->commands >> c & 1) && (a == ACTION_NONE || !some || this);
}

static bool applies(const struct parse *p, const struct option *o) { return takes(o, p->out->command, ACTION_NONE); }

/* ": it is a flag of `trib build`, `trib cache prune`"; nothing where no command has it. */
static void put_owners(struct buf *out, const char *name)
{
	enum { SHOWN = 4 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_OPTIONS; i++) {
		for (uint32_t k = 0; strcmp(options[i].name, name) == 0 && k < COMMAND_COUNT; k++) {
			bool whole = takes(&options[i], (enum command)k, ACTION_NONE);
			for (uint32_t a = 1; whole && a < ACTION_COUNT; a++)
				if (options[i].commands >> (32 + a) & 1 && action_is_of((enum action)a, (enum command)k)) {
					whole = false;
					if (n++ < SHOWN)
						buf_printf(out, "%s `trib %s %s`", n == 1 ? ": it is a flag of" : ",", commands[k].text,
							   action_text((enum action)a));
				}
			if (whole && n++ < SHOWN)
				buf_printf(out, "%s `trib %s`", n == 1 ? ": it is a flag of" : ",", commands[k].text);
		}
	}
	if (n > SHOWN)
		buf_puts(out, " and others");
}

static bool unknown(struct parse *p, const char *word, const char *name)
{
	const char *names[N_OPTIONS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_OPTIONS; i++)
		if (applies(p, &options[i]))
			names[n++] = options[i].name;
	buf_printf(p->error, "`trib %s` has no flag `%s`", command_text(p->out->command), word);
	size_t before = p->error->len;
	put_owners(p->error, name);
	const char *near = p->error->len == before ? diag_nearest(name, names, n) : NULL;
	if (near)
		buf_printf(p->error, "; did you mean `--%s`?", near);
	return false;
}

/* The flags that were given, against the action; the number of operands. */
static bool check_action(struct parse *p)
{
	enum command c = p->out->command;
	enum action a = ACTION_NONE;
	if (p->out->options.help && !p->operands.len)
		return true;
	bool ok = action_parse(c, p->operands.at, p->operands.len, &a, p->error);
	if (!ok && !(p->out->options.help && a != ACTION_NONE))
		return false;
	buf_clear(p->error);
	p->out->options.action = a;
	for (uint32_t i = 0; i < N_OPTIONS; i++)
		if (p->given[i] && !takes(&options[i], c, a)) {
			buf_printf(p->error, "`trib %s %s` has no flag `--%s`", commands[c].text, action_text(a), options[i].name);
			put_owners(p->error, options[i].name);
			return false;
		}
	return true;
}

static bool is_given(const struct parse *p, const char *name)
{
	for (uint32_t i = 0; i < N_OPTIONS; i++)
		if (p->given[i] && strcmp(options[i].name, name) == 0)
			return true;
	return false;
}

static bool check_relations(struct parse *p)
{
	for (uint32_t i = 0; i < sizeof relations / sizeof *relations; i++) {
		bool needs = relations[i].relation == RELATION_NEEDS;
		if (relations[i].command != p->out->command || !is_given(p, relations[i].flag) || is_given(p, relations[i].other) == needs)
			continue;
		buf_printf(p->error, "`trib %s` takes `--%s` only %s `--%s`", commands[p->out->command].text, relations[i].flag,
			   needs ? "with" : "without", relations[i].other);
		return false;
	}
	return true;
}

/* The operands of a command without actions, against the table: none for "", at most one without "…". */
static bool check_operands(struct parse *p)
{
	const char *text = commands[p->out->command].operands;
	if (p->wants_file && !p->operands.len && !p->out->options.help) {
		buf_printf(p->error, "`trib compile` wants a file: `trib compile FILE.tri -o LIBRARY.so`; `trib build` builds a project");
		return false;
	}
	uint32_t most = !*text ? 0 : strstr(text, "…") ? UINT32_MAX : 1;
	if (p->operands.len <= most)
		return true;
	buf_printf(p->error, most ? "`trib %s` takes one %s: what is `%s`?" : "`trib %s` takes no operands%s: what is `%s`?",
		   commands[p->out->command].text, text, p->operands.at[most]);
	return false;
}

/* In operands a project may have its own name, `my-net`; its model is then called `my_net`, since no model's name has a `-`. */
static void name_models(struct parse *p)
{
	if (!strstr(commands[p->out->command].operands, "MODEL"))
		return;
	for (uint32_t i = 0; i < p->operands.len; i++) {
		if (strpbrk(p->operands.at[i], "/.") || *p->operands.at[i] == '-')
			continue; /* a file, or no name */
		char *name = arena_strdup(p->a, p->operands.at[i]);
		for (char *s = name; *s; s++)
			*s = *s == '-' ? '_' : *s;
		p->operands.at[i] = name;
	}
}

static bool is_number(const char *word) { return word && *word && word[strspn(word, "0123456789")] == '\0'; }

/* The flag's value: attached, or the next word; for `-k` only if that is a number. */
static bool with_value(struct parse *p, const struct option *o, const char *attached, const char *word)
{
	if (!o->takes) {
		if (attached)
			return fail(p, "no value belongs to the flag", word);
		return set(p, o, NULL);
	}
	if (!attached && o->kind == OPT_LIMIT && !(p->at < p->argc && is_number(p->argv[p->at])))
		return set(p, o, NULL);
	if (!attached && p->at < p->argc)
		attached = p->argv[p->at++];
	if (attached && *attached)
		return set(p, o, attached);
	buf_printf(p->error, "--%s wants a value: --%s %s", o->name, o->name, o->takes);
	return false;
}

static bool long_flag(struct parse *p, const char *word)
{
	const char *eq = strchr(word, '=');
	char *name = eq ? arena_strndup(p->a, word + 2, (size_t)(eq - word - 2)) : arena_strdup(p->a, word + 2);
	for (uint32_t i = 0; i < N_OPTIONS; i++)
		if (applies(p, &options[i]) && strcmp(options[i].name, name) == 0)
			return with_value(p, &options[i], eq ? eq + 1 : NULL, word);
	return unknown(p, word, name);
}

/* -j4, -j 4, -kv. */
static bool short_flags(struct parse *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		uint32_t i = 0;
		while (i < N_OPTIONS && !(options[i].letter == *c && applies(p, &options[i])))
			i++;
		if (i == N_OPTIONS)
			return unknown(p, word, word + 1);
		if (options[i].takes && !(options[i].kind == OPT_LIMIT && c[1] && !isdigit((unsigned char)c[1])))
			return with_value(p, &options[i], c[1] ? c + 1 : NULL, word);
		if (!set(p, &options[i], NULL))
			return false;
	}
	return true;
}

/* Whether that flag's value is the next word, `next` (NULL: there is none). */
static bool takes_next(const char *word, const char *next)
{
	for (uint32_t i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &options[i];
		bool same = word[1] == '-' ? strcmp(o->name, word + 2) == 0 : word[1] && o->letter == word[1] && !word[2];
		if (same)
			return o->takes && (o->kind != OPT_LIMIT || is_number(next));
	}
	return false;
}

/* The command may stand anywhere before the operands: `trib -C dir build` is as good as `trib build -C dir`. */
static bool find_command(struct parse *p)
{
	const char *names[COMMAND_COUNT];
	int i = 1;
	for (; i < p->argc && p->argv[i][0] == '-'; i++)
		i += takes_next(p->argv[i], i + 1 < p->argc ? p->argv[i + 1] : NULL);
	if (i >= p->argc)
		return true;
	for (uint32_t k = 0; k < COMMAND_COUNT; k++)
		names[k] = commands[k].text;
	p->wants_file = strcmp(p->argv[i], "compile") == 0;
	uint32_t k = p->wants_file ? COMMAND_BUILD : index_of(p->argv[i], names, COMMAND_COUNT);
	if (k < COMMAND_COUNT) {
		p->out->command = (enum command)k;
		p->out->given = true;
		memmove(p->argv + i, p->argv + i + 1, (size_t)(p->argc - i) * sizeof *p->argv);
		p->argc--;
		return true;
	}
	if (strcmp(p->argv[i], "help") == 0) {
		p->out->options.help = true;
		memmove(p->argv + i, p->argv + i + 1, (size_t)(p->argc - i) * sizeof *p->argv);
		p->argc--;
		return find_command(p);
	}
	if (p->out->options.help && topic_find(p->argv[i])) { /* `trib help manifest` */
		p->out->topic = topic_find(p->argv[i]);
		return true;
	}
	const char *near = diag_nearest(p->argv[i], names, COMMAND_COUNT);
	if (!near && p->out->options.help) /* `trib help WORD` */
		return fail(p, "there is no command", p->argv[i]);
	if (!near)
		return true; /* a model of the default command */
	fail(p, "there is no command", p->argv[i]);
	return suggest(p, near);
}

/* TRIB_JOBS is --jobs, for commands that take it. */
static bool read_environment(struct parse *p)
{
	const char *jobs = secure_getenv("TRIB_JOBS");
	uint32_t i = 0;
	while (strcmp(options[i].name, "jobs") != 0)
		i++;
	if (!jobs || !*jobs || p->given[i] || !applies(p, &options[i]))
		return true;
	uint64_t n;
	if (manifest_parse_count(jobs, &n) && n > 0 && n <= MOST_JOBS) {
		p->out->options.jobs = (int)n;
		return true;
	}
	buf_printf(p->error, "the variable TRIB_JOBS wants a positive number, not `%s`", jobs);
	return false;
}

static const char *const *keep(struct arena *a, const char *const *list, uint32_t n)
{
	const char **copy = ARENA_ARRAY(a, const char *, n + 1);
	if (n)
		memcpy(copy, list, n * sizeof *copy);
	return copy;
}

bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error)
{
	struct parse p = {.a = a, .out = out, .error = error, .argc = argc, .at = 1};
	*out = (struct args){.command = COMMAND_BUILD};
	struct options *o = &out->options;
	o->argv = argv;
	o->opt = o->most_failures = o->verbose = o->explain = o->timing = o->no_cache = o->low_memory = o->json = -1;
	o->rtol = o->atol = -1;
	p.argv = ARENA_ARRAY(a, char *, argc + 1);
	memcpy(p.argv, argv, (size_t)argc * sizeof *argv);
	bool ok = find_command(&p), only_operands = false;
	while (ok && p.at < p.argc) {
		const char *word = p.argv[p.at++];
		if (only_operands && out->command == COMMAND_WATCH)
			vec_push(&p.command, word);
		else if (only_operands || word[0] != '-' || !word[1])
			vec_push(&p.operands, word);
		else if (strcmp(word, "--") == 0)
			only_operands = true;
		else
			ok = word[1] == '-' ? long_flag(&p, word) : short_flags(&p, word);
	}
	ok = ok && (command_has_actions(out->command) ? check_action(&p) : check_operands(&p)) &&
	     (o->help || (check_relations(&p) && read_environment(&p)));
	name_models(&p);
	o->models = keep(a, p.operands.at, p.operands.len);
	o->n_models = p.operands.len;
	o->inputs = keep(a, p.inputs.at, p.inputs.len);
	o->n_inputs = p.inputs.len;
	o->outputs = keep(a, p.outputs.at, p.outputs.len);
	o->n_outputs = p.outputs.len;
	o->command = keep(a, p.command.at, p.command.len);
	o->n_command = p.command.len;
	vec_free(&p.operands);
	vec_free(&p.command);
	vec_free(&p.inputs);
	vec_free(&p.outputs);
	return ok;
}

/* False: made-up values, such as `random`. */
static bool is_file(const char *value)
{
	struct buf error = {0};
	struct run_source source;
	bool file = run_source_parse(value, &source, &error) && source.kind == SOURCE_FILE;
	buf_free(&error);
	return file;
}

/* "x=FILE", in a list that the command line gave. */
static bool rebase_files(struct arena *a, const char *const **list, uint32_t n, const char *from)
{
	const char **out = ARENA_ARRAY(a, const char *, n + 1);
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		const char *word = (*list)[i], *eq = strchr(word, '=');
		out[i] = word;
		if (eq && is_file(eq + 1)) {
			const char *path = path_normal(a, path_join(a, from, eq + 1));
			out[i] = arena_printf(a, "%.*s=%s%s", (int)(eq - word), word, is_file(path) ? "" : "./", path);
			any = true;
		}
	}
	*list = out;
	return any;
}

bool args_rebase(struct arena *a, struct args *args, const char *from)
{
	struct options *o = &args->options;
	bool any = rebase_files(a, &o->inputs, o->n_inputs, from);
	any |= rebase_files(a, &o->outputs, o->n_outputs, from);
	for (uint32_t i = 0; i < N_OPTIONS; i++) {
		const char **value = (const char **)(void *)((char *)o + options[i].member);
		bool path = options[i].kind == OPT_PATH || (options[i].kind == OPT_PROGRAM && *value && strchr(*value, '/'));
		if (path && *value && **value != '/') {
			*value = path_normal(a, path_join(a, from, *value));
			any = true;
		}
	}
	return any;
}

bool args_flag(uint32_t i, struct flag *out)
{
	if (i >= N_OPTIONS)
		return false;
	const struct option *o = &options[i];
	*out = (struct flag){o->letter, o->name, o->takes, o->help, (o->commands & UINT32_MAX) == UINT32_MAX};
	return true;
}

bool args_flag_of(uint32_t i, enum command c, uint32_t action) { return takes(&options[i], c, (enum action)action); }
