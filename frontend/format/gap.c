/* Comments and line breaks between two tokens. */
#include <string.h>
#include "frontend/format/state.h"

static uint8_t count_newline(uint8_t newlines) { return newlines < 2 ? (uint8_t)(newlines + 1) : 2; }

static uint32_t trim_end(const char *text, uint32_t start, uint32_t end)
{
	while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r'))
		end--;
	return end;
}

static uint32_t gap_line_end(const struct source *src, uint32_t i)
{
	const char *newline = memchr(src->text + i, '\n', src->len - i);
	return newline ? (uint32_t)(newline - src->text) : src->len;
}

static uint32_t block_end(const char *text, uint32_t i)
{
	for (i += 2; text[i] != '*' || text[i + 1] != '/'; i++)
		;
	return i + 2;
}

void format_gap(const struct source *src, uint32_t start, uint32_t end, struct gap *gap)
{
	const char *text = src->text;
	uint8_t newlines = 0;
	gap->comments.len = 0;
	for (uint32_t i = start; i < end;) {
		bool line = text[i] == '#';
		bool token = text[i] == ',' || (text[i] == '/' && text[i + 1] == '/');
		if (token || (!line && text[i] != '/')) {
			newlines = text[i] == '\n' ? count_newline(newlines) : token ? 0 : newlines;
			i += text[i] == '/' ? 2 : 1;
			continue;
		}
		uint32_t stop = line ? gap_line_end(src, i) : block_end(text, i);
		bool multi = !line && memchr(text + i, '\n', stop - i);
		vec_push(&gap->comments, ((struct comment){i, line ? trim_end(text, i, stop) : stop, line, multi, newlines}));
		newlines = 0;
		i = stop;
	}
	gap->newlines = newlines;
}
