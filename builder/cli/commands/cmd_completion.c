/* trib completion: scripts for shells, made from the tables, and the lists that the scripts ask for. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/print.h"
#include "builder/cache/config.h"
#include "builder/cli/flags.h"
#include "builder/cli/help.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/manifest/manifest.h"

/* What a shell offers for the value of a flag, by the flag's name or by the value's name in the help. */
static const struct {
	const char *name, *words;
} values[] = {
	{"DIR", "@folders"},
	{"FILE", "@files"},
	{"LIB", "@files"},
	{"X=FILE", "@files"},
	{"Y=FILE", "@files"},
	{"LEVEL", "0 1 2 3 s"},
	{"CPU", "native x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4-vnni"},
	{"TARGET", "x86_64-linux"},
	{"DEVICE", "cpu opencl reference"},
	{"level", "l2 l3"},
	{"profile", "@profiles"},
};

/* The operands of a command: words, or a list of `trib completion LIST`. */
static const char *completion_operands_of(struct arena *a, enum command c)
{
	const char *words = command_table[c].completes;
	for (uint32_t i = 1; i < ACTION_COUNT; i++)
		if (action_is_shown((enum action)i, c))
			words = arena_printf(a, "%s%s ", words, action_table[i].name);
	return words;
}

static const char *words_of(struct arena *a, const struct flag *flag)
{
	const char *words = "";
	uint32_t n;
	const char *const *list = flag->kind == FLAG_EMIT ? emit_names(&n) : flag_words(flag->kind, &n);
	for (uint32_t i = 0; list && i < n; i++)
		words = *list[i] ? arena_printf(a, "%s%s ", words, list[i]) : words;
	for (size_t i = 0; !list && i < sizeof values / sizeof *values; i++)
		if (strcmp(values[i].name, flag->value) == 0 || strcmp(values[i].name, flag->name) == 0)
			words = values[i].words;
	return words;
}

/* ---- bash; zsh reads the same script ---- */

static void completion_put_commands(struct buf *out)
{
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		buf_printf(out, "%s ", command_table[i].name);
	buf_puts(out, "compile help");
}

static void completion_put_flags(enum command c, struct buf *out)
{
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (flag_is_of(&flag_table[i], c, ACTION_NONE))
			buf_printf(out, "--%s ", flag_table[i].name);
}

/* The words after `trib help`. */
static void put_help_words(struct buf *out)
{
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		buf_printf(out, "%s ", command_table[i].name);
	for (uint32_t i = 1; i < TOPIC_COUNT; i++)
		buf_printf(out, "%s ", topic_text((enum topic)i));
}

/* True if the flag has several rows, for commands with different values. */
static bool is_ambiguous(const char *name)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_FLAGS; i++)
		n += strcmp(flag_table[i].name, name) == 0;
	return n > 1;
}

/* Flags of a command's actions. */
static void put_actions(enum command c, struct buf *out)
{
	for (uint32_t k = 1; k < ACTION_COUNT; k++) {
		if (!action_is_shown((enum action)k, c))
			continue;
		buf_printf(out, "\t'%s %s') operands='%s' flags='", command_table[c].name, action_table[k].name,
			   c == COMMAND_CONFIG && k != ACTION_CONFIG_LIST ? "@keys" : "");
		for (uint32_t i = 0; i < N_FLAGS; i++)
			if (flag_is_of(&flag_table[i], c, (enum action)k))
				buf_printf(out, "--%s ", flag_table[i].name);
		buf_puts(out, "' ;;\n");
	}
}

static void put_bash(struct arena *a, struct buf *out)
{
	buf_puts(
		out,
		"# Completion of trib for bash, made by `trib completion bash`.\n"
		"_trib_words()\n{\n\tlocal w\n\tfor w in $1; do\n\t\tcase $w in\n"
		"\t\t@files) compgen -f -- \"$2\" ;;\n\t\t@folders) compgen -d -- \"$2\" ;;\n"
		"\t\t@*) compgen -W \"$(\"$3\" completion \"${w#@}\" 2>/dev/null)\" -- \"$2\" ;;\n\t\t*) compgen -W \"$w\" -- \"$2\" ;;\n\t\tesac\n\tdone\n}\n\n"
		"_trib()\n{\n\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"\" command=\"\" action=\"\" flags operands words=\"\" i w\n"
		"\t[ \"$COMP_CWORD\" -gt 0 ] && before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
		"\tif [ \"$word\" = = ]; then word=\"\"; elif [ \"$before\" = = ]; then before=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tw=\"${COMP_WORDS[i]}\"\n\t\tcase $w in\n\t\t-*|=) ;;\n\t\t");
	completion_put_commands(out);
	/* alternatives of a shell `case` */
	for (size_t i = out->len; i-- > 0 && out->at[i] != '\t';)
		if (out->at[i] == ' ')
			out->at[i] = '|';
	buf_puts(
		out,
		") if [ -z \"$command\" ]; then command=$w; elif [ -z \"$action\" ]; then action=$w; fi ;;\n\t\t*) [ -n \"$command\" ] && [ -z \"$action\" ] && action=$w ;;\n\t\tesac\n\tdone\n\tcase \"${command:-build} $before\" in\n");
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		const char *words = f->value && !flag_value_is_optional(f) ? words_of(a, f) : "";
		if (!*words)
			continue;
		buf_putc(out, '\t');
		if (f->letter)
			buf_printf(out, "*' -%c'|", f->letter);
		for (uint32_t c = 0, n = 0; is_ambiguous(f->name) && c < COMMAND_COUNT; c++)
			if (flag_is_of(f, (enum command)c, ACTION_NONE))
				buf_printf(out, "%s'%s --%s'", n++ ? "|" : "", command_table[c].name, f->name);
		if (!is_ambiguous(f->name))
			buf_printf(out, "*' --%s'", f->name);
		buf_printf(out, ") words='%s' ;;\n", words);
	}
	buf_puts(
		out,
		"\tesac\n\tif [ -n \"$words\" ]; then\n\t\tCOMPREPLY=( $(_trib_words \"$words\" \"$word\" \"$1\") )\n\t\treturn\n\tfi\n\tcase ${command:-build} in\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		buf_printf(out, "\t%s%s) operands='%s' flags='", command_table[i].name, i == COMMAND_BUILD ? "|compile" : "",
			   completion_operands_of(a, (enum command)i));
		completion_put_flags((enum command)i, out);
		buf_puts(out, "' ;;\n");
	}
	buf_puts(out, "\thelp) flags='' operands='");
	put_help_words(out);
	buf_puts(out, "' ;;\n\tesac\n\tcase \"$command $action\" in\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		put_actions((enum command)i, out);
	buf_puts(out, "\tesac\n"
		      "\tif [[ $word == -* ]]; then\n\t\tCOMPREPLY=( $(compgen -W \"$flags\" -- \"$word\") )\n"
		      "\telif [ -z \"$command\" ]; then\n\t\tCOMPREPLY=( $(compgen -W '");
	completion_put_commands(out);
	buf_puts(
		out,
		"' -- \"$word\") )\n\telse\n\t\tCOMPREPLY=( $(_trib_words \"$operands\" \"$word\" \"$1\") )\n\tfi\n}\ncomplete -o filenames -F _trib trib\n");
}

static void put_zsh(struct arena *a, struct buf *out)
{
	buf_puts(
		out,
		"#compdef trib\n# Completion of trib for zsh, made by `trib completion zsh`: the functions for bash, called by zsh.\nautoload -U +X bashcompinit && bashcompinit\n");
	put_bash(a, out);
}

/* ---- fish ---- */

static void put_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

/* Writes a list as arguments of `complete`, which takes one `-a`. */
static void put_fish_words(const char *words, struct buf *out)
{
	bool files = strstr(words, "@files") || strstr(words, "@folders"), some = false;
	buf_puts(out, files ? " -F" : " -f");
	for (const char *w = words; *w; w += strspn(w, " ")) {
		int n = (int)strcspn(w, " ");
		if (strncmp(w, "@files", 6) != 0 && strncmp(w, "@folders", 8) != 0) {
			buf_puts(out, some ? " " : " -a '");
			buf_printf(out, *w == '@' ? "(trib completion %.*s 2>/dev/null)" : "%.*s", *w == '@' ? n - 1 : n,
				   *w == '@' ? w + 1 : w);
			some = true;
		}
		w += n;
	}
	if (some)
		buf_putc(out, '\'');
}

/* condition: when the flag is offered, an argument of `complete`. */
static void put_fish_flag(struct arena *a, const struct flag *flag, const char *condition, struct buf *out)
{
	buf_printf(out, "complete -c trib%s -l %s", condition, flag->name);
	if (flag->letter)
		buf_printf(out, " -s %c", flag->letter);
	if (flag->value && !flag_value_is_optional(flag)) {
		buf_puts(out, " -r");
		put_fish_words(words_of(a, flag), out);
	}
	buf_puts(out, " -d ");
	put_quoted(flag->help ? flag->help : "", out);
	buf_putc(out, '\n');
}

static void put_fish_command(struct arena *a, enum command c, struct buf *out)
{
	const char *name = command_table[c].name, *words = completion_operands_of(a, c);
	buf_printf(out, "complete -c trib -n __fish_use_subcommand -f -a %s -d ", name);
	put_quoted(command_table[c].help, out);
	buf_putc(out, '\n');
	if (*words) {
		buf_printf(out, "complete -c trib -n '__fish_seen_subcommand_from %s'", name);
		put_fish_words(words, out);
		buf_putc(out, '\n');
	}
	const char *condition = arena_printf(a, " -n '__fish_seen_subcommand_from %s'", name);
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (flag_is_of(&flag_table[i], c, ACTION_NONE) && !flag_is_global(&flag_table[i]))
			put_fish_flag(a, &flag_table[i], condition, out);
}

static void put_fish(struct arena *a, struct buf *out)
{
	buf_puts(out, "# Completion of trib for fish, made by `trib completion fish`.\n");
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		put_fish_command(a, (enum command)i, out);
	buf_puts(
		out,
		"complete -c trib -n __fish_use_subcommand -f -a 'compile help'\ncomplete -c trib -n '__fish_seen_subcommand_from compile' -F\n"
		"complete -c trib -n '__fish_seen_subcommand_from help' -f -a '");
	put_help_words(out);
	buf_puts(
		out,
		"'\ncomplete -c trib -n '__fish_seen_subcommand_from config; and __fish_seen_subcommand_from get set unset' -f -a '(trib completion keys 2>/dev/null)'\n");
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (flag_is_global(&flag_table[i]))
			put_fish_flag(a, &flag_table[i], "", out);
}

/* ---- lists of the project ---- */

static void put_blocks(struct arena *a, enum manifest_block_kind kind, struct buf *out)
{
	uint32_t n;
	const struct manifest *m = project_manifest(a);
	const char *const *names = manifest_names(a, m, kind, &n);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s\n", names[i]);
}

static void completion_put_models(struct arena *a, struct buf *out) { put_blocks(a, BLOCK_MODEL, out); }
static void put_profiles(struct arena *a, struct buf *out) { put_blocks(a, BLOCK_PROFILE, out); }
static void put_dependencies(struct arena *a, struct buf *out) { put_blocks(a, BLOCK_DEPENDENCY, out); }

static void completion_put_keys(struct arena *a, struct buf *out)
{
	(void)a;
	for (uint32_t i = 0; i < SETTINGS; i++)
		buf_printf(out, "%s.%s\n", cache_setting_block((enum cache_setting)i), cache_setting_key((enum cache_setting)i));
}

static void completion_put_codes(struct arena *a, struct buf *out)
{
	(void)a;
	for (uint32_t i = 0; i < DIAG_COUNT; i++)
		buf_printf(out, "%s\n", diag_code_text((enum diag_code)i));
}

static const struct {
	const char *name;
	void (*put)(struct arena *, struct buf *);
} texts[] = {{"bash", put_bash},
	     {"zsh", put_zsh},
	     {"fish", put_fish},
	     {"models", completion_put_models},
	     {"profiles", put_profiles},
	     {"dependencies", put_dependencies},
	     {"keys", completion_put_keys},
	     {"codes", completion_put_codes}};
enum { TEXTS = sizeof texts / sizeof *texts, SHELLS = 3 };

enum status cmd_completion(const struct options *o)
{
	const char *names[TEXTS];
	uint32_t i = 0;
	for (uint32_t k = 0; k < TEXTS; k++)
		names[k] = texts[k].name;
	if (o->n_operands != 1)
		return fail_usage("`trib completion` takes bash, zsh or fish");
	while (i < TEXTS && strcmp(names[i], o->operands[0]) != 0)
		i++;
	if (i == TEXTS) {
		const char *near = diag_nearest(o->operands[0], names, SHELLS);
		return near ? fail_usage("`trib completion` has no `%s`; did you mean `%s`?", o->operands[0], near)
			    : fail_usage("`trib completion` takes bash, zsh or fish, not `%s`", o->operands[0]);
	}
	struct arena *a = arena_new(0);
	struct buf out = {0};
	texts[i].put(a, &out);
	print_text(stdout, &out);
	buf_free(&out);
	arena_free(a);
	return STATUS_OK;
}
