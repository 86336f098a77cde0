/* What the formatter's files share. marks.c reads the tree once and leaves a mark on each token; format.c then walks the tokens and gives
 * text, possible breaks and groups to print.c, which decides the breaks (Oppen's algorithm: linear time, a buffer of one line's
 * length or so); gap.c finds the comments between tokens. */
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
	MARK_LINE = 4,         /* a statement, item or what follows an attribute begins here */
	MARK_BREAK_BEFORE = 8, /* a line may be broken before it */
	MARK_BREAK_AFTER = 16, /* … after it */
	MARK_FILL = 32,        /* … where nothing more fits */
	MARK_KEEPS_COMMA = 64, /* on a closing bracket: the comma of (a,) */
	MARK_FORCED = 128,     /* on `{`: its statements stand on lines of their own */
	MARK_SHARED = 256,     /* on `{`: breaks together with the rest of its if … else */
	MARK_ITEM = 512,       /* first token of a definition of the file … */
	MARK_DEFINES = 1024,   /* … and its keyword, after the attributes */
	MARK_ASSIGN = 2048,    /* `=` whose value may stand on the next line, if it fits there */
	MARK_BODY = 4096,      /* `{` after a signature: broken where that is */
	MARK_OPENS = 8192,     /* a bracket … */
	MARK_CLOSES = 16384,   /* … and its partner */
};
/* How a bracket breaks. PAREN: its content on lines of its own. LIST: one element a line, and a comma after the last. FILL: the same with as
 * many on a line as fit. CLAUSES: a comprehension. TIGHT: after commas only. HUG: not itself, its only element does. */
enum bracket_style { STYLE_PAREN, STYLE_LIST, STYLE_FILL, STYLE_CLAUSES, STYLE_TIGHT, STYLE_HUG, STYLE_BLOCK };

struct mark {
	uint16_t flags;
	uint8_t opens, closes; /* groups that begin before and end after the token */
	uint32_t partner;      /* of brackets and f-strings: where they end; of closing brackets: where they began */
	uint8_t style;         /* of an opening bracket */
};
/* A mark for each token. The caller frees the result. */
struct mark *format_marks(const struct ast *t);

/* --- comments --- */

struct comment {
	uint32_t start, end;
	bool line;        /* # to the end of the line */
	bool multi;       /* spans lines */
	uint8_t newlines; /* before it, since the token or comment before; at most 2 */
};
struct gap {
	VEC(struct comment) comments;
	uint8_t newlines; /* after the last comment */
};
/* The comments of the text from `start` to `end`, which holds nothing else but white space, `,`, `//` and `;`. Reuses the memory of *gap. */
void format_gap(const struct source *src, uint32_t start, uint32_t end, struct gap *gap);

/* --- printer --- */

enum event_kind { EVENT_TEXT, EVENT_COMMENT, EVENT_BREAK, EVENT_BEGIN, EVENT_END, EVENT_INDENT, EVENT_DEDENT, EVENT_COMMA };
enum event_flag {
	EVENT_SPACE = 1,    /* TEXT, COMMENT: a space before it; BREAK: a space where it is not taken */
	EVENT_FILL = 2,     /* BREAK: only where what follows does not fit */
	EVENT_BLANK = 4,    /* BREAK: with an empty line */
	EVENT_ARROW = 8,    /* BREAK: only where the bracket before is on one line */
	EVENT_BRACKET = 16, /* END: of a bracket */
	EVENT_SPACES = 32,  /* COMMENT: two spaces before it */
	EVENT_BESIDE = 4,   /* COMMENT: to the end of its line, or over several: may stand beyond the width */
	EVENT_ASSIGN = 64,  /* BREAK: only if the rest of the group then fits, which is indented */
	EVENT_BODY = 128,   /* BEGIN: broken where the group that ended last is */
};
struct event {
	const char *text;
	uint32_t len;
	uint32_t at;   /* columns before it, were nothing broken */
	uint32_t size; /* columns that BEGIN or BREAK ask for; set by the flush */
	uint8_t kind, flags;
};
/* While groups are measured, from the end on: where the first break after the group stands, and the next break of its own. */
struct open_group {
	uint32_t tail, next;
};
struct printer {
	struct buf *out;
	VEC(struct event) events; /* since the last sure line break */
	VEC(uint8_t) modes;       /* of the groups that are open */
	VEC(struct open_group) open;
	uint32_t at; /* columns of the events */
	uint32_t col, indent;
	uint32_t pending;        /* newlines not written yet … */
	uint32_t pending_indent; /* … and the spaces after them */
	uint32_t lines;          /* newlines written */
	uint8_t last_end;        /* the mode of the group that ended last */
	uint8_t last_mode;       /* of the bracket that ended last */
	bool started;            /* something was written */
	bool separate;           /* to be set: the next newline's place is wanted … */
	size_t separator;        /* … here */
};
void print_text(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags);
void print_comment(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags);
void print_break(struct printer *p, unsigned flags);
void print_event(struct printer *p, enum event_kind kind, unsigned flags);
/* A sure line break, with an empty line: all open groups are broken. Everything before it is written. */
void print_line(struct printer *p, bool blank);
/* Writes what is there; groups that are still open are broken. */
void print_flush(struct printer *p);
void printer_free(struct printer *p);
#endif
