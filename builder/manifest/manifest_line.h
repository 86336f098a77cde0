/* Lines of the manifest and of the user's configuration: `#` starts a comment at the start of a line or after a blank; `$name` and `${name}` expand
 * variables set above, `$$` is a dollar, `$ ` a blank that does not separate, `$` at the end of a line joins the next one. */
#ifndef TRIB_BUILDER_MANIFEST_MANIFEST_LINE_H
#define TRIB_BUILDER_MANIFEST_MANIFEST_LINE_H
#include <stdbool.h>
#include <stdint.h>

struct source;

/* One line, with those that are joined to it, without indentation, comment and end, as offsets into its source. */
struct line {
	const struct source *src;
	uint32_t start, end, next; /* next: where the following line starts */
	bool indented, ended;      /* ended: by a newline, which the last line may lack or join to nothing */
};

/* Where the first line starts: behind a byte order mark. */
uint32_t manifest_first_line(const struct source *src);
/* The line that starts at offset `at`, which is below the source's length. It is empty (start == end) where only blanks or a comment stand. */
struct line manifest_line_at(const struct source *src, uint32_t at);
/* Behind the word of letters, digits and `_.-` that starts at `at`. */
uint32_t line_word_end(const struct line *l, uint32_t at);
uint32_t line_skip_blanks(const struct line *l, uint32_t at);
#endif
