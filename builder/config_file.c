#include "builder/config_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"

static size_t line_length(const char *s) { return strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n'); }

/* With the lines that a `$` at the end joins to it. */
static size_t joined_length(const char *s)
{
	size_t n = 0;
	for (;;) {
		size_t line = line_length(s + n), end = line && s[n + line - 1] == '\n' ? line - 1 : line;
		n += line;
		if (end == line || end == 0 || s[n - line + end - 1] != '$')
			return n;
	}
}

static bool starts_with_word(const char *s, const char *word)
{
	size_t n = strlen(word);
	return strncmp(s, word, n) == 0 && strchr(" \t\r\n=#", s[n]) != NULL;
}

static bool indented(const char *s) { return *s == ' ' || *s == '\t'; }
static bool empty(const char *s) { return s[strspn(s, " \t\r")] == '\n' || s[strspn(s, " \t\r")] == '#' || !s[strspn(s, " \t\r")]; }

/* The block's lines: from behind its head to behind its last key. */
static bool find_block(const char *text, const char *block, const char **start, const char **end)
{
	const char *s = text;
	while (*s && !(starts_with_word(s, block) && s[strlen(block)] != '='))
		s += line_length(s);
	if (!*s)
		return false;
	*start = *end = s + line_length(s);
	for (s = *start; *s && (indented(s) || empty(s)); s += line_length(s))
		if (!empty(s))
			*end = s + line_length(s);
	return true;
}

static void put_line(struct buf *out, const char *key, const char *value)
{
	if (out->len && out->at[out->len - 1] != '\n')
		buf_putc(out, '\n');
	buf_printf(out, "    %s = ", key);
	for (const char *c = value; *c; c++)
		buf_puts(out, *c == '$' ? "$$" : (char[]){*c, 0});
	buf_putc(out, '\n');
}

void config_edit(const char *text, const char *block, const char *key, const char *value, struct buf *out)
{
	const char *start, *end;
	if (!find_block(text, block, &start, &end)) {
		buf_puts(out, text);
		if (value) {
			if (out->len && out->at[out->len - 1] != '\n')
				buf_putc(out, '\n');
			buf_printf(out, "%s\n", block);
			put_line(out, key, value);
		}
		return;
	}
	const char *s = start;
	while (s < end && !(indented(s) && starts_with_word(s + strspn(s, " \t"), key)))
		s += line_length(s);
	buf_put(out, text, (size_t)(s - text));
	if (value)
		put_line(out, key, value);
	buf_puts(out, s < end ? s + joined_length(s) : s);
}

/* Two that change it at once do so one after the other. */
static int lock_folder(const char *dir)
{
	int fd = os_mkdirs(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
		continue;
	return fd;
}

bool config_change(const char *path, const char *block, const char *key, const char *value)
{
	struct arena *a = arena_new(0);
	struct buf out = {0};
	char *text = NULL;
	size_t len;
	int lock = lock_folder(path_dir(a, path));
	bool there = lock >= 0 && os_read_file(path, INT32_MAX, &text, &len), ok = there || (lock >= 0 && errno == ENOENT);
	if (ok) {
		config_edit(there ? text : "", block, key, value, &out);
		ok = os_write_if_changed(path, out.at ? out.at : "", out.len, 0644, true);
	}
	int why = errno;
	if (lock >= 0)
		close(lock);
	free(text);
	buf_free(&out);
	arena_free(a);
	errno = why;
	return ok;
}
