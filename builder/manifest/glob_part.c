#include "builder/manifest/glob_part.h"
#include <fnmatch.h>
#include <string.h>

/* The length of the element at `p`: a character, `\x`, or a bracket expression. */
static size_t element(const char *p)
{
	if (*p == '\\' && p[1])
		return 2;
	if (*p != '[')
		return 1;
	size_t n = 1 + (p[1] == '!' || p[1] == '^');
	n += p[n] == ']';
	for (; p[n] && p[n] != ']'; n++)
		if (p[n] == '[' && (p[n + 1] == ':' || p[n + 1] == '.' || p[n + 1] == '=')) {
			const char end[] = {p[n + 1], ']', 0}, *close = strstr(p + n + 2, end);
			n = close ? (size_t)(close - p) + 1 : n;
		}
	return p[n] ? n + 1 : 1; /* without an end `[` is a character */
}

static bool matches_one(const char *p, size_t n, char c)
{
	char bracket[256];
	const char text[] = {c, 0};
	if (*p == '?')
		return true;
	if (n == 1)
		return *p == c;
	if (*p == '\\')
		return p[1] == c;
	if (n >= sizeof bracket)
		return false;
	memcpy(bracket, p, n);
	bracket[n] = 0;
	return fnmatch(bracket, text, 0) == 0;
}

bool glob_part_matches(const char *p, const char *s)
{
	const char *again = NULL, *from = NULL; /* behind the last `*`, and where that ended */
	if (*s == '.' && *p != '.' && !(*p == '\\' && p[1] == '.'))
		return false;
	while (*s) {
		size_t n = *p ? element(p) : 0;
		if (*p == '*') {
			again = ++p;
			from = s;
		} else if (*p && matches_one(p, n, *s)) {
			p += n;
			s++;
		} else if (again) { /* only the last `*` need take more */
			p = again;
			s = ++from;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}
