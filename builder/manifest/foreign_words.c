#include "builder/manifest/foreign_words.h"
#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct foreign_word rows[] = {
#define FOREIGN(kind, places, words, same, text) {FOREIGN_##kind, places, words, same, text},
#include "builder/manifest/foreign_words.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* True if one of the patterns of `list`, separated by blanks, matches. */
static bool foreign_words_has(const char *list, const char *word)
{
	char pattern[64];
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n >= sizeof pattern)
			continue;
		memcpy(pattern, list, n);
		pattern[n] = '\0';
		if (fnmatch(pattern, word, 0) == 0)
			return true;
	}
	return false;
}

const struct foreign_word *foreign_word_find(enum foreign_kind kind, const char *place, const char *word)
{
	for (uint32_t i = 0; i < ROWS; i++)
		if (rows[i].kind == kind && foreign_words_has(rows[i].places, place) && foreign_words_has(rows[i].words, word))
			return &rows[i];
	return NULL;
}

const struct foreign_word *foreign_word_row(uint32_t i) { return i < ROWS ? &rows[i] : NULL; }
