/* "Did you mean": optimal string alignment distance (insert, delete, replace, swap neighbours), three rows at a time. */
#include "base/diag.h"
#include <ctype.h>
#include <string.h>

#define LONGEST 127
#define SHORTEST_SURE 4

static uint32_t diag_nearest_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Both have at most LONGEST bytes. */
static uint32_t distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
	uint8_t rows[3][LONGEST + 1];
	uint8_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (uint32_t j = 0; j <= nb; j++)
		above[j] = (uint8_t)j;
	for (uint32_t i = 1; i <= na; i++) {
		uint8_t *oldest = before;

		row[0] = (uint8_t)i;
		for (uint32_t j = 1; j <= nb; j++) {
			uint32_t d =
				diag_nearest_least(diag_nearest_least(above[j], row[j - 1]) + 1u, above[j - 1] + (a[i - 1] != b[j - 1]));

			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = diag_nearest_least(d, before[j - 2] + 1u);
			row[j] = (uint8_t)d;
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[nb];
}

/* True if the names differ only in case and underscores. */
static bool same_letters(const char *a, const char *b)
{
	for (;;) {
		a += *a == '_';
		b += *b == '_';
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* *sure: no other name is as near, and only one letter of a long enough word differs, or only case and `_`. */
static const char *nearest_of(const char *word, const char *const *names, uint32_t n, bool *sure)
{
	size_t len = strlen(word);
	uint32_t best = (uint32_t)(len / 3) + 1; /* one more than the most allowed */
	const char *found = NULL;
	bool alone = true;

	*sure = false;
	if (len > LONGEST)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		size_t other = strlen(names[i]);
		size_t differ = other > len ? other - len : len - other;
		uint32_t d;

		if (len > 1 && same_letters(word, names[i])) {
			*sure = true;
			return names[i];
		}
		if (other > LONGEST || differ > best)
			continue;
		d = distance(word, (uint32_t)len, names[i], (uint32_t)other);
		if (d == best && found && strcmp(found, names[i]) != 0)
			alone = false;
		if (d >= best)
			continue;
		best = d;
		found = names[i];
		alone = true;
	}
	*sure = found && alone && best == 1 && len >= SHORTEST_SURE;
	return found;
}

const char *diag_nearest(const char *word, const char *const *names, uint32_t n)
{
	bool sure;

	return nearest_of(word, names, n, &sure);
}

bool diag_did_you_mean(struct diags *d, struct diag *g, span at, const char *word, const char *const *names, uint32_t n)
{
	bool sure;
	const char *near = nearest_of(word, names, n, &sure);

	if (!near)
		return false;
	diag_help(d, g, "did you mean `%s`?", near);
	if (sure)
		diag_edit(d, g, at, near);
	else
		diag_guess(d, g, at, near);
	return true;
}
