/* Chains of calls: `x = self.layers[0](x)`, `x = self.layers[1](x)` … become a loop over the list. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"

enum { SHORTEST_CHAIN = 3 };

/* A line `TO = LIST[AT]METHOD(FROM REST`. */
struct link {
	const char *to, *list, *method, *from, *rest;
	long at;
};

static const char *chains_copy(struct arena *a, const char *from, const char *to) { return arena_strndup(a, from, (size_t)(to - from)); }

/* Reads a line without its newline. False: it has another form. */
static bool read_link(struct arena *a, const char *line, struct link *l)
{
	const char *equals = strstr(line, " = self."), *open = equals ? strchr(equals, '(') : NULL, *bracket = open;
	if (!open)
		return false;
	while (bracket > equals && *bracket != '[')
		bracket--;
	const char *end = strchr(bracket, ']');
	if (*bracket != '[' || !isdigit((unsigned char)bracket[1]) || !end || end > open)
		return false;
	const char *from = open + 1, *stop = from + strcspn(from, ",)(.[ ");
	*l = (struct link){chains_copy(a, line, equals),  chains_copy(a, equals + 3, bracket),
			   chains_copy(a, end + 1, open), chains_copy(a, from, stop),
			   arena_strdup(a, stop),         strtol(bracket + 1, NULL, 10)};
	return *stop == ',' || *stop == ')';
}

static bool chains_follows(const struct link *first, const struct link *x, long n)
{
	return x->at == first->at + n && strcmp(x->to, first->to) == 0 && strcmp(x->from, first->to) == 0 &&
	       strcmp(x->list, first->list) == 0 && strcmp(x->method, first->method) == 0 && strcmp(x->rest, first->rest) == 0;
}

static const char *next_line(struct arena *a, const char *s, const char **line)
{
	size_t n = strcspn(s, "\n");
	*line = arena_strndup(a, s, n);
	return s + n + (s[n] == '\n');
}

const char *fold_chains(struct arena *a, const char *lines)
{
	struct buf out = {0};
	const char *line;
	while (*lines) {
		struct link first, x;
		const char *after = next_line(a, lines, &line), *end = after;
		long n = read_link(a, line, &first) && !strstr(first.rest, first.to);
		for (const char *s = after;
		     n && *s && (s = next_line(a, s, &line), read_link(a, line, &x)) && chains_follows(&first, &x, n); end = s)
			n++;
		if (n < SHORTEST_CHAIN) {
			buf_put(&out, lines, (size_t)(after - lines));
			lines = after;
			continue;
		}
		if (strcmp(first.to, first.from) != 0)
			buf_printf(&out, "%s = %s\n", first.to, first.from);
		const char *range = first.at ? arena_printf(a, "[%ld:%ld]", first.at, first.at + n) : arena_printf(a, "[:%ld]", n);
		buf_printf(&out, "for layer in %s%s:\n    %s = layer%s(%s%s\n", first.list, range, first.to, first.method, first.to,
			   first.rest);
		lines = end;
	}
	const char *text = arena_strndup(a, out.len ? out.at : "", out.len);
	buf_free(&out);
	return text;
}
