/* Suggests an argument for a name that the function does not have. */
#include <string.h>
#include "base/diag.h"
#include "frontend/habits/habits.h"

static const struct {
	const char *given, *meant;
} others[] = {
#define ARGUMENT(given, meant) {#given, #meant},
#include "frontend/rules/argument_names.def"
#undef ARGUMENT
};

static const char *argument_names_find_name(const char *name, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return names[i];
	return NULL;
}

/* Returns the only name that contains `name` as a word: `split_size` for `size`. */
static const char *find_with_word(const char *name, const char *const *names, uint32_t n)
{
	size_t len = strlen(name);
	const char *found = NULL;
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const char *at = len > 2 ? strstr(names[i], name) : NULL;
		bool word = at && (at == names[i] || at[-1] == '_') && (!at[len] || at[len] == '_');
		found = word ? names[i] : found;
		count += word;
	}
	return count == 1 ? found : NULL;
}

void argument_help(struct diags *d, struct diag *g, span at, const char *name, const char *const *names, uint32_t n)
{
	const char *meant = NULL;
	for (size_t i = 0; i < sizeof others / sizeof *others && !meant; i++)
		if (!strcmp(others[i].given, name))
			meant = argument_names_find_name(others[i].meant, names, n);
	if (!meant)
		meant = diag_nearest(name, names, n);
	bool sure = meant != NULL;
	if (!meant)
		meant = find_with_word(name, names, n);
	if (!meant)
		return;
	diag_help(d, g, "did you mean `%s`?", meant);
	if (sure)
		diag_edit(d, g, at, meant);
	else
		diag_guess(d, g, at, meant);
}
