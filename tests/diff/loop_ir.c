/* Reads loop IR text, such as what `trib build --dump-loops` prints, unit by unit:
 *
 *   loop-ir FILE      the text of what was read; the exit code is 1 if it is another one */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"

/* Returns the end of the unit that starts at `at`. */
static const char *unit_end(const char *at, const char *end)
{
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		at = line ? line + 1 : end;
		if (end - at > 5 && !memcmp(at, "unit ", 5))
			break;
	}
	return at;
}

static bool check_unit(struct sources *s, const char *path, const char *text, size_t n)
{
	struct arena *a = arena_new(0);
	struct diags *d = diags_new(0);
	struct buf out = {0};
	const struct loop_fn *f = loops_read(a, sources_add(s, path, text, n), d);
	if (f)
		loops_print(f, &out);
	diags_print(d, s, stderr, false);
	bool same = f && out.len == n && !memcmp(out.at, text, n);
	if (out.len)
		fwrite(out.at, 1, out.len, stdout);
	buf_free(&out);
	diags_free(d);
	arena_free(a);
	return same;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t len = 0;
	bool same = true;
	if (argc != 2 || !os_read_file(argv[1], 0, &text, &len)) {
		fprintf(stderr, "usage: loop-ir FILE\n");
		return 2;
	}
	struct sources *s = sources_new();
	for (const char *at = text, *end = text + len, *next; at < end; at = next) {
		next = unit_end(at, end);
		same = check_unit(s, argv[1], at, (size_t)(next - at)) && same;
	}
	sources_free(s);
	free(text);
	return !same;
}
