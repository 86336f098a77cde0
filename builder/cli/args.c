#include "builder/cli/args.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/cli/flags.h"
#include "builder/cli/help.h"
#include "builder/manifest/manifest.h"

struct arg_parser {
	struct arena *a;
	struct args *out;
	struct buf *error;
	char **argv;
	int argc, at;
	bool given[N_FLAGS];
	bool needs_file; /* `trib compile` */
	const char **operands, **command;
};

static const char *command_name(const struct arg_parser *p) { return command_table[p->out->command].name; }

static bool has_flag(const struct arg_parser *p, const struct flag *f) { return flag_is_of(f, p->out->command, ACTION_NONE); }

/* ---- flags ---- */

/* Only a list may be given several times; -vv is -v. */
static bool may_repeat(const struct flag *f) { return f->kind == FLAG_LIST || f->letter == 'v' || f->letter == 'h' || f->letter == 'V'; }

static bool set_flag(struct arg_parser *p, const struct flag *f, const char *value)
{
	bool *given = &p->given[f - flag_table];
	if (*given && !may_repeat(f)) {
		buf_printf(p->error, "--%s is given twice", f->name);
		return false;
	}
	*given = true;
	return flag_set(f, value, p->a, &p->out->options, p->error);
}

static bool unknown_flag(struct arg_parser *p, const char *word, const char *name)
{
	const char *names[N_FLAGS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (has_flag(p, &flag_table[i]))
			names[n++] = flag_table[i].name;
	buf_printf(p->error, "`trib %s` has no flag `%s`", command_name(p), word);
	size_t before = p->error->len;
	flag_put_owners(name, p->error);
	const char *near = p->error->len == before ? diag_nearest(name, names, n) : NULL;
	if (near)
		buf_printf(p->error, "; did you mean `--%s`?", near);
	return false;
}

/* Sets a flag. The value is attached, or the next word. */
static bool read_flag(struct arg_parser *p, const struct flag *f, const char *attached, const char *word)
{
	if (!f->value && attached) {
		buf_printf(p->error, "--%s takes no value: `%s`", f->name, word);
		return false;
	}
	const char *next = p->at < p->argc ? p->argv[p->at] : NULL;
	if (!f->value || (!attached && flag_value_is_optional(f) && !flag_takes_word(f, next)))
		return set_flag(p, f, NULL);
	if (!attached && next) {
		attached = next;
		p->at++;
	}
	if (attached && *attached)
		return set_flag(p, f, attached);
	buf_printf(p->error, "--%s wants a value: --%s %s", f->name, f->name, f->value);
	return false;
}

static bool long_flag(struct arg_parser *p, const char *word)
{
	const char *eq = strchr(word, '=');
	char *name = eq ? arena_strndup(p->a, word + 2, (size_t)(eq - word - 2)) : arena_strdup(p->a, word + 2);
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (has_flag(p, &flag_table[i]) && strcmp(flag_table[i].name, name) == 0)
			return read_flag(p, &flag_table[i], eq ? eq + 1 : NULL, word);
	return unknown_flag(p, word, name);
}

/* -j4, -j 4, -kv. */
static bool short_flags(struct arg_parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		uint32_t i = 0;
		while (i < N_FLAGS && !(flag_table[i].letter == *c && has_flag(p, &flag_table[i])))
			i++;
		if (i == N_FLAGS)
			return unknown_flag(p, word, word + 1);
		const struct flag *f = &flag_table[i];
		if (f->value && !(f->kind == FLAG_LIMIT && c[1] && !isdigit((unsigned char)c[1])))
			return read_flag(p, f, c[1] ? c + 1 : NULL, word);
		if (!set_flag(p, f, NULL))
			return false;
	}
	return true;
}

/* ---- the command ---- */

/* True if the word is a flag whose value is the next word. */
static bool takes_next(const char *word, const char *next)
{
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		bool same = word[1] == '-' ? strcmp(f->name, word + 2) == 0 : word[1] && f->letter == word[1] && !word[2];
		if (same)
			return flag_takes_word(f, next);
	}
	return false;
}

static void remove_word(struct arg_parser *p, int i)
{
	memmove(p->argv + i, p->argv + i + 1, (size_t)(p->argc - i) * sizeof *p->argv);
	p->argc--;
}

static uint32_t find_command_name(const char *word)
{
	uint32_t c = 0;
	while (c < COMMAND_COUNT && strcmp(command_table[c].name, word) != 0)
		c++;
	return c;
}

/* A word that is no command: a misspelt one, or a model of the default command. */
static bool no_command(struct arg_parser *p, const char *word)
{
	const char *names[COMMAND_COUNT];
	for (uint32_t c = 0; c < COMMAND_COUNT; c++)
		names[c] = command_table[c].name;
	const char *near = diag_nearest(word, names, COMMAND_COUNT);
	if (!near && !p->out->options.help)
		return true;
	buf_printf(p->error, "there is no command `%s`", word);
	if (near)
		buf_printf(p->error, "; did you mean `%s`?", near);
	return false;
}

/* The command may follow flags: `trib -C dir build` means `trib build -C dir`. */
static bool find_command(struct arg_parser *p)
{
	int i = 1;
	for (; i < p->argc && p->argv[i][0] == '-'; i++)
		i += takes_next(p->argv[i], i + 1 < p->argc ? p->argv[i + 1] : NULL);
	if (i >= p->argc)
		return true;
	const char *word = p->argv[i];
	p->needs_file = strcmp(word, "compile") == 0;
	uint32_t c = p->needs_file ? COMMAND_BUILD : find_command_name(word);
	if (c < COMMAND_COUNT) {
		p->out->command = (enum command)c;
		p->out->names_a_command = true;
		remove_word(p, i);
		return true;
	}
	if (strcmp(word, "help") == 0) {
		p->out->options.help = true;
		remove_word(p, i);
		return find_command(p);
	}
	if (p->out->options.help)
		p->out->topic = topic_find(word); /* `trib help manifest` */
	return p->out->topic || no_command(p, word);
}

/* ---- checks ---- */

/* Finds the action, and refuses flags of other actions. */
static bool check_action(struct arg_parser *p)
{
	struct options *o = &p->out->options;
	enum command c = p->out->command;
	enum action a = ACTION_NONE;
	if (o->help && !o->n_operands)
		return true;
	bool ok = action_parse(c, p->operands, o->n_operands, &a, p->error);
	if (!ok && !(o->help && a != ACTION_NONE))
		return false;
	buf_clear(p->error);
	o->action = a;
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (p->given[i] && !flag_is_of(&flag_table[i], c, a)) {
			buf_printf(p->error, "`trib %s %s` has no flag `--%s`", command_name(p), action_table[a].name, flag_table[i].name);
			flag_put_owners(flag_table[i].name, p->error);
			return false;
		}
	return true;
}

/* Counts the operands: the table has "" for none, and "…" for any number. */
static bool check_operands(struct arg_parser *p)
{
	const char *text = command_table[p->out->command].operands;
	uint32_t n = p->out->options.n_operands, most = !*text ? 0 : strstr(text, "…") ? UINT32_MAX : 1;
	if (p->needs_file && !n && !p->out->options.help) {
		buf_puts(p->error, "`trib compile` wants a file: `trib compile FILE.tri -o LIBRARY.so`; `trib build` builds a project");
		return false;
	}
	if (n <= most)
		return true;
	buf_printf(p->error, "`trib %s` takes %s; `%s` is %s", command_name(p), most ? "only one operand" : "no operands",
		   p->operands[most], most ? "one too many" : "unexpected");
	return false;
}

/* A model's name has no `-`. So an operand `my-net`, the name of a project, means its model `my_net`. */
static void name_models(struct arg_parser *p)
{
	if (!strstr(command_table[p->out->command].operands, "MODEL"))
		return;
	for (uint32_t i = 0; i < p->out->options.n_operands; i++) {
		if (strpbrk(p->operands[i], "/.") || *p->operands[i] == '-')
			continue; /* a file, or no name */
		char *name = arena_strdup(p->a, p->operands[i]);
		for (char *s = name; *s; s++)
			*s = *s == '-' ? '_' : *s;
		p->operands[i] = name;
	}
}

static bool read_param_code(struct arg_parser *p)
{
	static const char *const words[] = {[PARAM_CODE_AUTO] = "auto", [PARAM_CODE_ALWAYS] = "always", [PARAM_CODE_NEVER] = "never"};
	const char *when = secure_getenv("TRIB_PARAM_CODE");
	if (!when || !*when)
		return true;
	for (enum param_code_when i = PARAM_CODE_AUTO; i <= PARAM_CODE_NEVER; i++)
		if (strcmp(when, words[i]) == 0) {
			p->out->options.param_code = i;
			return true;
		}
	buf_printf(p->error, "the variable TRIB_PARAM_CODE wants auto, always or never, not `%s`", when);
	return false;
}

/* TRIB_JOBS is --jobs, for commands that take it. */
static bool read_jobs(struct arg_parser *p)
{
	const char *jobs = secure_getenv("TRIB_JOBS");
	uint32_t i = 0;
	uint64_t n;
	while (strcmp(flag_table[i].name, "jobs") != 0)
		i++;
	if (!jobs || !*jobs || p->given[i] || !has_flag(p, &flag_table[i]))
		return true;
	if (manifest_parse_count(jobs, &n) && n > 0 && n <= MAX_JOBS) {
		p->out->options.jobs = (int)n;
		return true;
	}
	buf_printf(p->error, "the variable TRIB_JOBS wants a positive number, not `%s`", jobs);
	return false;
}

static bool read_words(struct arg_parser *p)
{
	struct options *o = &p->out->options;
	bool only_operands = false, ok = true;
	while (ok && p->at < p->argc) {
		const char *word = p->argv[p->at++];
		if (only_operands && (p->out->command == COMMAND_WATCH || p->out->command == COMMAND_PROFILE))
			p->command[o->n_command++] = word;
		else if (only_operands || word[0] != '-' || !word[1])
			p->operands[o->n_operands++] = word;
		else if (strcmp(word, "--") == 0)
			only_operands = true;
		else
			ok = word[1] == '-' ? long_flag(p, word) : short_flags(p, word);
	}
	return ok;
}

bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error)
{
	struct arg_parser p = {.a = a, .out = out, .error = error, .argc = argc, .at = 1};
	*out = (struct args){.command = COMMAND_BUILD};
	struct options *o = &out->options;
	o->argv = argv;
	o->opt = o->port = o->most_failures = o->verbose = o->explain = o->timing = o->no_cache = o->low_memory = o->json = o->warm_up =
		o->profile_hook = -1;
	o->rtol = o->atol = -1;
	o->operands = p.operands = ARENA_ARRAY(a, const char *, argc + 1);
	o->command = p.command = ARENA_ARRAY(a, const char *, argc + 1);
	o->inputs = ARENA_ARRAY(a, const char *, argc + 1);
	o->outputs = ARENA_ARRAY(a, const char *, argc + 1);
	p.argv = ARENA_ARRAY(a, char *, argc + 1);
	memcpy(p.argv, argv, (size_t)argc * sizeof *argv);
	bool ok = find_command(&p) && read_words(&p) && (command_has_actions(out->command) ? check_action(&p) : check_operands(&p)) &&
		  (o->help || (flag_check_relations(out->command, p.given, error) && read_jobs(&p) && read_param_code(&p)));
	name_models(&p);
	return ok;
}
