#include "builder/manifest/manifest.h"
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
#include "base/source.h"
#include "builder/manifest/manifest_line.h"

static bool config_file_is_word(const struct manifest_line *line, const char *word)
{
	uint32_t n = manifest_line_word_end(line, line->start) - line->start;
	return n == strlen(word) && memcmp(line->src->text + line->start, word, n) == 0;
}

static bool opens_block(const struct manifest_line *line, const char *block)
{
	uint32_t at = manifest_line_skip_blanks(line, manifest_line_word_end(line, line->start));
	return !line->indented && config_file_is_word(line, block) && (at == line->end || line->src->text[at] != '=');
}

/* The line of the key in the text; if there is none, the end of the block. */
struct key_line {
	uint32_t from, to;
	bool in_block, ended; /* ended: a newline ends the line before */
};

static struct key_line find_key_line(const struct source *src, const char *block, const char *key)
{
	struct key_line p = {.ended = true};
	struct manifest_line l;
	for (uint32_t at = manifest_first_line(src); at < src->len; at = l.next) {
		l = manifest_line_at(src, at);
		if (!p.in_block)
			p.ended = l.ended;
		if (l.start == l.end)
			continue;
		if (p.in_block && !l.indented)
			break;
		p.in_block = p.in_block || opens_block(&l, block);
		if (!p.in_block)
			continue;
		p.from = p.to = l.next;
		p.ended = l.ended;
		if (l.indented && config_file_is_word(&l, key)) {
			p.from = at;
			p.ended = true;
			break;
		}
	}
	return p;
}

static void config_file_print_line(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "    %s = ", key);
	for (const char *c = value; *c; c++)
		buf_puts(out, *c == '$' ? "$$" : (char[]){*c, 0});
	buf_putc(out, '\n');
}

void config_set_text(const char *text, const char *block, const char *key, const char *value, struct buf *out)
{
	const struct source src = {.text = text, .len = (uint32_t)strlen(text)};
	struct key_line p = find_key_line(&src, block, key);
	if (!p.in_block)
		p.from = p.to = src.len;
	buf_put(out, text, p.from);
	if (value && !p.ended)
		buf_putc(out, '\n');
	if (value && !p.in_block)
		buf_printf(out, "%s\n", block);
	if (value)
		config_file_print_line(out, key, value);
	buf_puts(out, text + p.to);
}

/* Serializes processes that change the file. */
static int lock_folder(const char *dir)
{
	int fd = os_mkdirs(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
		continue;
	return fd;
}

bool config_set_file(const char *path, const char *block, const char *key, const char *value)
{
	struct arena *a = arena_new(0);
	struct buf out = {0};
	char *text = NULL;
	size_t len;
	int lock = lock_folder(path_dir(a, path));
	bool exists = lock >= 0 && os_read_file(path, INT32_MAX, &text, &len), ok = exists || (lock >= 0 && errno == ENOENT);
	if (ok) {
		config_set_text(exists ? text : "", block, key, value, &out);
		ok = os_write_if_changed(path, out.at ? out.at : "", out.len, 0644, true);
		os_remove_temporaries(path_dir(a, path));
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
