#include "builder/cli/flags.h"
#include <string.h>
#include "base/buf.h"

#define IN(id) (UINT64_C(1) << COMMAND_##id)
#define OF(id) (UINT64_C(1) << COMMAND_OF_##id | UINT64_C(1) << (32 + ACTION_##id))
_Static_assert(COMMAND_COUNT <= 32 && ACTION_COUNT <= 32, "one bit each");
enum {
#define ACTION(command, id, name, fewest, most, operands, help) COMMAND_OF_##id = COMMAND_##command,
#include "builder/cli/actions.def"
};

const struct flag flag_table[N_FLAGS] = {
#define FLAG(letter, name, value, kind, member, commands, help) \
	{letter, name, value, FLAG_##kind, offsetof(struct options, member), commands, help},
#include "builder/cli/flags.def"
};

enum relation_kind { RELATION_NEEDS, RELATION_EXCLUDES };
static const struct {
	enum command command;
	const char *flag;
	enum relation_kind kind;
	const char *other;
} relations[] = {
#define RELATION(command, flag, kind, other) {COMMAND_##command, flag, RELATION_##kind, other},
#include "builder/cli/relations.def"
};

static bool has_action_bit(const struct flag *f, uint32_t action) { return f->commands >> (32 + action) & 1; }

bool flag_is_of(const struct flag *f, enum command c, enum action a)
{
	bool is_for_actions = false;
	if (!(f->commands >> c & 1))
		return false;
	for (uint32_t i = 1; i < ACTION_COUNT; i++)
		is_for_actions = is_for_actions || (action_table[i].command == c && has_action_bit(f, i));
	return a == ACTION_NONE || !is_for_actions || has_action_bit(f, a);
}

bool flag_is_global(const struct flag *f) { return (f->commands & UINT32_MAX) == UINT32_MAX; }

void flag_put_name(const struct flag *f, struct buf *out)
{
	buf_printf(out, "--%s%s%s", f->name, !f->value || flag_value_is_attached(f) ? "" : " ", f->value ? f->value : "");
}

bool flag_value_is_attached(const struct flag *f) { return f->value && !strncmp(f->value, "[=", 2); }

bool flag_value_is_optional(const struct flag *f) { return f->value && *f->value == '['; }

bool flag_takes_word(const struct flag *f, const char *word)
{
	bool is_number = word && *word && word[strspn(word, "0123456789")] == '\0';
	return f->value && (!flag_value_is_optional(f) || (f->kind == FLAG_LIMIT && is_number));
}

enum { MAX_OWNERS = 4 };

static void put_owner(struct buf *out, uint32_t n, enum command c, enum action a)
{
	if (n > MAX_OWNERS)
		return;
	buf_printf(out, "%s `trib %s", n == 1 ? ": it is a flag of" : ",", command_table[c].name);
	if (a != ACTION_NONE)
		buf_printf(out, " %s", action_table[a].name);
	buf_putc(out, '`');
}

void flag_put_owners(const char *name, struct buf *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		for (uint32_t c = 0; strcmp(f->name, name) == 0 && c < COMMAND_COUNT; c++) {
			uint32_t before = n;
			for (uint32_t a = 1; a < ACTION_COUNT; a++)
				if (has_action_bit(f, a) && action_table[a].command == c)
					put_owner(out, ++n, (enum command)c, (enum action)a);
			if (n == before && flag_is_of(f, (enum command)c, ACTION_NONE))
				put_owner(out, ++n, (enum command)c, ACTION_NONE);
		}
	}
	if (n > MAX_OWNERS)
		buf_puts(out, " and others");
}

static bool flags_is_given(const bool *given, const char *name)
{
	for (uint32_t i = 0; i < N_FLAGS; i++)
		if (given[i] && strcmp(flag_table[i].name, name) == 0)
			return true;
	return false;
}

bool flag_check_relations(enum command c, const bool *given, struct buf *error)
{
	for (uint32_t i = 0; i < sizeof relations / sizeof *relations; i++) {
		bool needs = relations[i].kind == RELATION_NEEDS;
		if (relations[i].command != c || !flags_is_given(given, relations[i].flag) ||
		    flags_is_given(given, relations[i].other) == needs)
			continue;
		buf_printf(error, "`trib %s` takes `--%s` only %s `--%s`", command_table[c].name, relations[i].flag,
			   needs ? "with" : "without", relations[i].other);
		return false;
	}
	return true;
}
