/* MAKEFLAGS is words between blanks; a backslash takes the next character as it is. The first word may be single-letter flags without a
 * dash; after the word `--` come variable definitions. */
#include "scheduler/makeflags.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

/* The next word in `a`, or NULL; moves *at behind it. */
static char *next_word(struct arena *a, const char **at)
{
	const char *s = *at + strspn(*at, " \t");
	size_t n = 0;
	char *word = arena_strdup(a, s);

	if (!*s)
		return NULL;
	for (; *s && *s != ' ' && *s != '\t'; s++) {
		if (*s == '\\' && s[1])
			s++;
		word[n++] = *s;
	}
	word[n] = '\0';
	*at = s;
	return word;
}

static bool makeflags_number(const char **at, int *out)
{
	char *end;
	long n = strtol(*at, &end, 10);

	if (end == *at || n < INT_MIN || n > INT_MAX)
		return false;
	*at = end;
	*out = (int)n;
	return true;
}

static void read_auth(struct makeflags *m, const char *value)
{
	m->kind = JOBSERVER_NONE;
	if (strncmp(value, "fifo:", 5) == 0 && value[5]) {
		m->kind = JOBSERVER_FIFO;
		m->path = value + 5;
	} else if (makeflags_number(&value, &m->read_fd) && *value++ == ',' && makeflags_number(&value, &m->write_fd) && !*value &&
		   m->read_fd >= 0 && m->write_fd >= 0) {
		m->kind = JOBSERVER_PIPE;
	}
}

/* The value of a word `OPTION=value`, or NULL. */
static const char *makeflags_value_of(const char *word, const char *option)
{
	size_t n = strlen(option);

	return strncmp(word, option, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

struct makeflags makeflags_parse(struct arena *a, const char *text)
{
	struct makeflags m = {0};
	bool first = true;

	for (const char *word; text && (word = next_word(a, &text)) && strcmp(word, "--") != 0; first = false) {
		const char *auth = makeflags_value_of(word, "--jobserver-auth");

		auth = auth ? auth : makeflags_value_of(word, "--jobserver-fds");
		if (auth)
			read_auth(&m, auth);
		if (first && word[0] != '-' && !strchr(word, '='))
			m.dry_run = strchr(word, 'n') != NULL;
	}
	return m;
}
