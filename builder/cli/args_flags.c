/* Reads the flags of a command line. */
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "builder/cli/args_state.h"
#include "builder/manifest/foreign_words.h"

const char *args_command(const struct arg_parser *p) { return command_table[p->out->command].name; }

bool args_has_flag(const struct arg_parser *p, const struct flag *flag) { return flag_is_of(flag, p->out->command, ACTION_NONE); }

/* Only a list may be given several times; -vv is -v. */
static bool may_repeat(const struct flag *flag)
{
	return flag->kind == FLAG_LIST || flag->letter == 'v' || flag->letter == 'h' || flag->letter == 'V';
}

static bool args_flags_set_flag(struct arg_parser *p, const struct flag *flag, const char *value)
{
	bool *given = &p->given[flag - flag_table];
	if (*given && !may_repeat(flag)) {
		buf_printf(p->error, "--%s is given twice", flag->name);
		return false;
	}
	*given = true;
	return flag_set(flag, value, p->a, &p->out->options, p->error);
}

bool args_refuse_foreign(struct arg_parser *p, const char *what, const char *word, const struct foreign_word *foreign_word)
{
	buf_printf(p->error, "`trib %s` has no %s `%s`: %s", args_command(p), what, word, foreign_word->text);
	p->out->names_remedy = true;
	return false;
}

static bool unknown_flag(struct arg_parser *p, const char *word, const char *name)
{
	const char *names[N_FLAGS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (args_has_flag(p, &flag_table[i]))
			names[n++] = flag_table[i].name;
	buf_printf(p->error, "`trib %s` has no flag `%s`", args_command(p), word);
	size_t before = p->error->len;
	flag_put_owners(name, p->error);
	const char *near = p->error->len == before ? diag_nearest(name, names, n) : NULL;
	if (near)
		buf_printf(p->error, "; did you mean `--%s`?", near);
	return false;
}

/* Sets a flag. The value is attached, or the next word. */
static bool args_flags_read_flag(struct arg_parser *p, const struct flag *flag, const char *attached, const char *word)
{
	if (!flag->value && attached) {
		buf_printf(p->error, "--%s takes no value: `%s`", flag->name, word);
		return false;
	}
	const char *next = p->at < p->argc ? p->argv[p->at] : NULL;
	if (!flag->value || (!attached && flag_value_is_optional(flag) && !flag_takes_word(flag, next)))
		return args_flags_set_flag(p, flag, NULL);
	if (!attached && next) {
		attached = next;
		p->at++;
	}
	if (attached && *attached)
		return args_flags_set_flag(p, flag, attached);
	buf_printf(p->error, "--%s wants a value: --%s %s", flag->name, flag->name, flag->value);
	return false;
}

static const struct flag *find_flag(const struct arg_parser *p, const char *name, size_t len)
{
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (args_has_flag(p, &flag_table[i]) && strlen(flag_table[i].name) == len && memcmp(flag_table[i].name, name, len) == 0)
			return &flag_table[i];
	return NULL;
}

/* True if the value that was given, or none, is one of the flag that means the same. */
static bool suits(const struct flag *flag, const char *fixed, const char *attached, const char *next)
{
	const char *value = attached ? attached : next;
	if (fixed || !flag->value)
		return !attached;
	return flag->kind != FLAG_COUNT || (value && isdigit((unsigned char)*value));
}

/* A flag of another tool: it is set if it means the same as one here. */
static bool foreign_flag(struct arg_parser *p, const struct foreign_word *foreign_word, const char *attached, const char *word)
{
	if (!foreign_word->same)
		return args_refuse_foreign(p, "flag", word, foreign_word);
	size_t len = strcspn(foreign_word->same, "=");
	const char *fixed = foreign_word->same[len] ? foreign_word->same + len + 1 : NULL, *next = p->at < p->argc ? p->argv[p->at] : NULL;
	const struct flag *f = find_flag(p, foreign_word->same, len);
	BUG_ON(!f);
	if (foreign_word->text && !suits(f, fixed, attached, next))
		return args_refuse_foreign(p, "flag", word, foreign_word);
	return fixed ? args_flags_set_flag(p, f, fixed) : args_flags_read_flag(p, f, attached, word);
}

bool args_long_flag(struct arg_parser *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *attached = word[len] ? word + len + 1 : NULL, *name = arena_strndup(p->a, word, len);
	const struct flag *f = find_flag(p, name + 2, len - 2);
	if (f)
		return args_flags_read_flag(p, f, attached, word);
	const struct foreign_word *w = foreign_word_find(FOREIGN_FLAG, args_command(p), name);
	return w ? foreign_flag(p, w, attached, word) : unknown_flag(p, word, name + 2);
}

bool args_short_flags(struct arg_parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		uint32_t i = 0;
		while (i < N_FLAGS && !(flag_table[i].letter == *c && args_has_flag(p, &flag_table[i])))
			i++;
		if (i == N_FLAGS) {
			const struct foreign_word *w = foreign_word_find(FOREIGN_FLAG, args_command(p), word);
			return w ? args_refuse_foreign(p, "flag", word, w) : unknown_flag(p, word, word + 1);
		}
		const struct flag *f = &flag_table[i];
		if (f->value && !(f->kind == FLAG_LIMIT && c[1] && !isdigit((unsigned char)c[1])))
			return args_flags_read_flag(p, f, c[1] ? c + 1 : NULL, word);
		if (!args_flags_set_flag(p, f, NULL))
			return false;
	}
	return true;
}

bool args_takes_next(struct arg_parser *p, const char *word, const char *next)
{
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		bool same = word[1] == '-' ? strcmp(f->name, word + 2) == 0 : word[1] && f->letter == word[1] && !word[2];
		if (same)
			return flag_takes_word(f, next);
	}
	const struct foreign_word *w = foreign_word_find(FOREIGN_FLAG, command_table[COMMAND_BUILD].name, word);
	return w && w->same && args_takes_next(p, arena_printf(p->a, "--%s", w->same), next);
}
