#include "builder/cli/args.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "builder/cli/args_state.h"
#include "builder/cli/help.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/manifest.h"

/* ---- the command ---- */

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
	const struct foreign_word *w = foreign_word_find(FOREIGN_COMMAND, "trib", word);
	p->out->names_remedy = w;
	buf_printf(p->error, "there is no command `%s`", word);
	if (w)
		buf_printf(p->error, ": %s", w->text);
	else if (near)
		buf_printf(p->error, "; did you mean `%s`?", near);
	return false;
}

/* The command may follow flags: `trib -C dir build` means `trib build -C dir`. */
static bool find_command(struct arg_parser *p)
{
	int i = 1;
	for (; i < p->argc && p->argv[i][0] == '-'; i++)
		i += args_takes_next(p, p->argv[i], i + 1 < p->argc ? p->argv[i + 1] : NULL);
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
	const struct foreign_word *w = o->n_operands ? foreign_word_find(FOREIGN_ACTION, args_command(p), p->operands[0]) : NULL;
	if (w)
		return args_refuse_foreign(p, "action", p->operands[0], w);
	bool ok = action_parse(c, p->operands, o->n_operands, &a, p->error);
	if (!ok && !(o->help && a != ACTION_NONE))
		return false;
	buf_clear(p->error);
	o->action = a;
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (p->given[i] && !flag_is_of(&flag_table[i], c, a)) {
			buf_printf(p->error, "`trib %s %s` has no flag `--%s`", args_command(p), action_table[a].name, flag_table[i].name);
			flag_put_owners(flag_table[i].name, p->error);
			return false;
		}
	return true;
}

/* The most operands that a command takes: the table has "" for none, one word for each, and "…" for any number. */
static uint32_t args_most_operands(const char *text)
{
	uint32_t words = *text != 0;
	if (strstr(text, "…"))
		return UINT32_MAX;
	for (const char *s = text; *s; s++)
		words += *s == ' ';
	return words;
}

static bool check_operands(struct arg_parser *p)
{
	static const char *const counts[] = {"no operands", "only one operand", "only two operands"};
	uint32_t n = p->out->options.n_operands, most = args_most_operands(command_table[p->out->command].operands);
	if (p->needs_file && !n && !p->out->options.help) {
		buf_puts(p->error, "`trib compile` wants a file: `trib compile FILE.tri -o LIBRARY.so`; `trib build` builds a project");
		return false;
	}
	if (n <= most)
		return true;
	buf_printf(p->error, "`trib %s` takes %s; `%s` is %s", args_command(p), counts[most], p->operands[most],
		   most ? "one too many" : "unexpected");
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
	if (!jobs || !*jobs || p->given[i] || !args_has_flag(p, &flag_table[i]))
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
			ok = word[1] == '-' ? args_long_flag(p, word) : args_short_flags(p, word);
	}
	return ok;
}

bool args_parse(struct arena *a, int argc, char **argv, struct args *out, struct buf *error)
{
	struct arg_parser p = {.a = a, .out = out, .error = error, .argc = argc, .at = 1};
	*out = (struct args){.command = COMMAND_BUILD};
	struct options *o = &out->options;
	o->argv = argv;
	o->opt = o->recording.port = o->most_failures = o->verbose = o->explain = o->timing = o->no_cache = o->low_memory = o->json =
		o->recording.warm_up = o->profile_hook = -1;
	o->run.rtol = o->run.atol = -1;
	o->operands = p.operands = ARENA_ARRAY(a, const char *, argc + 1);
	o->command = p.command = ARENA_ARRAY(a, const char *, argc + 1);
	o->inputs = ARENA_ARRAY(a, const char *, argc + 1);
	o->run.outputs = ARENA_ARRAY(a, const char *, argc + 1);
	p.argv = ARENA_ARRAY(a, char *, argc + 1);
	memcpy(p.argv, argv, (size_t)argc * sizeof *argv);
	bool ok = find_command(&p) && read_words(&p) && (command_has_actions(out->command) ? check_action(&p) : check_operands(&p)) &&
		  (o->help || (flag_check_relations(out->command, p.given, error) && read_jobs(&p) && read_param_code(&p)));
	o->command_name = command_table[out->command].name;
	name_models(&p);
	return ok;
}
