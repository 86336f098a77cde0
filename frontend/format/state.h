/* Shared by the formatter's files. marks.c reads the tree once and marks the tokens. format.c walks the tokens and sends text, possible
 * breaks and groups to print.c. print.c decides the breaks (Oppen's algorithm: linear time, a buffer of about one line). gap.c finds the
 * comments between tokens. */
#ifndef TRIB_FRONTEND_FORMAT_STATE_H
#define TRIB_FRONTEND_FORMAT_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/vec.h"
#include "frontend/syntax/ast.h"

/* --- marks --- */

enum mark_flag {
	MARK_TIGHT_BEFORE = 1, /* no space before */
	MARK_TIGHT_AFTER = 2,  /* no space after */
	MARK_LINE = 4,         /* a statement or item begins here, or the token after an attribute */
	MARK_BREAK_BEFORE = 8, /* the line may be broken before it */
	MARK_BREAK_AFTER = 16, /* … after it */
	MARK_FILL = 32,        /* … only if the next piece does not fit */
	MARK_KEEPS_COMMA = 64, /* on a closing bracket: the comma of (a,) */
	MARK_FORCED = 128,     /* on `{`: each statement on its own line */
	MARK_SHARED = 256,     /* on `{`: breaks together with the rest of its if … else */
	MARK_ITEM = 512,       /* first token of a definition of the file … */
	MARK_DEFINES = 1024,   /* … and its keyword, after the attributes */
	MARK_ASSIGN = 2048,    /* `=` whose value may be on the next line, if it fits there */
	MARK_BODY = 4096,      /* `{` after a signature: broken if the signature is */
	MARK_OPENS = 8192,     /* a bracket … */
	MARK_CLOSES = 16384,   /* … and its partner */
};
/* How a bracket breaks. PAREN: its content on separate lines. LIST: one element per line, with a comma after the last. FILL: the same,
 * with as many elements per line as fit. CLAUSES: a comprehension. TIGHT: only after commas. HUG: only inside its single element. */
enum bracket_style { STYLE_PAREN, STYLE_LIST, STYLE_FILL, STYLE_CLAUSES, STYLE_TIGHT, STYLE_HUG, STYLE_BLOCK };

struct mark {
	uint16_t flags;
	uint8_t opens, closes; /* groups that begin before and end after the token */
	uint32_t partner;      /* the other bracket of a pair; of an f-string: its end */
	uint8_t style;         /* of an opening bracket */
};
/* Returns a mark for each token. The caller frees the result. */
struct mark *format_marks(const struct ast *t);

/* --- comments --- */

struct comment {
	uint32_t start, end;
	bool line;        /* # to the end of the line */
	bool multi;       /* spans several lines */
	uint8_t newlines; /* between it and the previous token or comment; at most 2 */
};
struct gap {
	VEC(struct comment) comments;
	uint8_t newlines; /* after the last comment */
};
/* Finds the comments from `start` to `end`. The other text there is white space, `,`, `//` and `;`. Reuses the memory of *gap. */
void format_gap(const struct source *src, uint32_t start, uint32_t end, struct gap *gap);

/* --- printer --- */

enum event_kind { EVENT_TEXT, EVENT_COMMENT, EVENT_BREAK, EVENT_BEGIN, EVENT_END, EVENT_INDENT, EVENT_DEDENT, EVENT_COMMA };
enum event_flag {
	EVENT_SPACE = 1,    /* TEXT, COMMENT: a space before it; BREAK: a space if it is not taken */
	EVENT_FILL = 2,     /* BREAK: only if the next piece does not fit */
	EVENT_BLANK = 4,    /* BREAK: with an empty line */
	EVENT_ARROW = 8,    /* BREAK: only if the previous bracket is on one line */
	EVENT_BRACKET = 16, /* END: of a bracket */
	EVENT_SPACES = 32,  /* COMMENT: two spaces before it */
	EVENT_BESIDE = 4,   /* COMMENT: to the end of its line, or over several lines: may exceed the width */
	EVENT_ASSIGN = 64,  /* BREAK: only if the indented rest of the group then fits */
	EVENT_BODY = 128,   /* BEGIN: broken if the previous group is */
};
struct event {
	const char *text;
	uint32_t len;
	uint32_t at;   /* columns before it without breaks */
	uint32_t size; /* columns that BEGIN or BREAK need to fit; set by printer_flush */
	uint8_t kind, flags;
};
/* While groups are measured from the end: the positions of the first break after the group, and of its own next break. */
struct open_group {
	uint32_t tail, next;
};
struct printer {
	struct buf *out;
	VEC(struct event) events; /* since the last forced line break */
	VEC(uint8_t) modes;       /* of the open groups */
	VEC(struct open_group) open;
	uint32_t at; /* columns of the events */
	uint32_t col, indent;
	uint32_t pending;        /* newlines not written yet … */
	uint32_t pending_indent; /* … and the spaces after them */
	uint32_t lines;          /* newlines written */
	uint8_t last_end;        /* the mode of the group that ended last */
	uint8_t last_mode;       /* of the bracket that ended last */
	bool started;            /* text was written */
	bool record_item_break;  /* store the position of the next newline in … */
	size_t item_break;       /* … this member */
};
void printer_text(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags);
void printer_comment(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags);
void printer_break(struct printer *p, unsigned flags);
void printer_event(struct printer *p, enum event_kind kind, unsigned flags);
/* A forced line break, with an empty line if `blank`. Breaks all open groups and writes all events before it. */
void printer_line(struct printer *p, bool blank);
/* Writes all events. Breaks the groups that are still open. */
void printer_flush(struct printer *p);
void printer_free(struct printer *p);
#endif
