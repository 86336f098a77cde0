/* Decides the line breaks. Events are buffered until a forced line break; then the width of each group is known. A group that fits is
 * printed on one line. In other groups each break is taken; a break that fills is taken only if the text up to the next break does not
 * fit. */
#include <string.h>
#include "frontend/format/format.h"
#include "frontend/format/state.h"

enum mode { MODE_FLAT, MODE_BROKEN };
#define UNBOUNDED UINT32_MAX
#define STEP 4
#define MAX_INDENT 60 /* deeper nesting is not indented further, so that the output is linear in the input */

static struct event *print_push(struct printer *p, enum event_kind kind, unsigned flags)
{
	vec_push(&p->events, ((struct event){.at = p->at, .kind = (uint8_t)kind, .flags = (uint8_t)flags}));
	return &p->events.at[p->events.len - 1];
}

void printer_text(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags)
{
	struct event *e = print_push(p, EVENT_TEXT, flags);
	e->text = text;
	e->len = len;
	e->size = width;
	p->at += width + (flags & EVENT_SPACE);
}

void printer_comment(struct printer *p, const char *text, uint32_t len, uint32_t width, unsigned flags)
{
	struct event *e = print_push(p, EVENT_COMMENT, flags);
	e->text = text;
	e->len = len;
	e->size = width;
	if (!(flags & EVENT_BESIDE))
		p->at += width + (flags & EVENT_SPACE);
}

void printer_break(struct printer *p, unsigned flags)
{
	print_push(p, EVENT_BREAK, flags);
	p->at += flags & EVENT_SPACE;
}

void printer_event(struct printer *p, enum event_kind kind, unsigned flags) { print_push(p, kind, flags); }

/* --- sizes --- */

/* Sets the sizes, from the last event to the first. A piece with a forced line break is unbounded: it never fits, so formatting is
 * idempotent. */
static void measure_groups(struct printer *p)
{
	uint32_t next_break = p->at;
	p->open.len = 0;
	vec_push(&p->open, ((struct open_group){p->at, p->at}));
	for (uint32_t i = p->events.len; i-- > 0;) {
		struct event *e = &p->events.at[i];
		struct open_group *top = &p->open.at[p->open.len - 1];
		if (e->kind == EVENT_BREAK) {
			bool unbounded = top->next == UNBOUNDED || (e->flags & EVENT_ASSIGN && p->open.len == 1);
			e->size = unbounded ? UNBOUNDED : top->next - e->at;
			top->next = next_break = e->at;
		} else if (e->kind == EVENT_END) {
			vec_push(&p->open, ((struct open_group){next_break, next_break}));
		} else if (e->kind == EVENT_BEGIN) {
			e->size = p->open.len > 1 ? top->tail - e->at : UNBOUNDED;
			if (p->open.len > 1)
				p->open.len--;
			else
				top->next = UNBOUNDED; /* of the enclosing group */
		}
	}
}

/* --- output --- */

static void write_spaces(struct buf *out, uint32_t n)
{
	static const char blanks[] = "                                                                ";
	buf_put(out, blanks, n < sizeof blanks - 1 ? n : sizeof blanks - 1);
}

static void write_newlines(struct printer *p)
{
	if (p->record_item_break) {
		p->item_break = p->out->len;
		p->record_item_break = false;
	}
	if (p->started) {
		buf_put(p->out, "\n\n", p->pending);
		p->lines += p->pending;
	}
	write_spaces(p->out, p->pending_indent);
	p->pending = 0;
}

/* Writes pending newlines, or the one or two spaces of `flags`. */
static void write_gap(struct printer *p, unsigned flags)
{
	if (p->pending) {
		write_newlines(p);
		p->col = p->pending_indent;
	} else if (flags & (EVENT_SPACE | EVENT_SPACES)) {
		uint32_t n = flags & EVENT_SPACES ? 2 : 1;
		write_spaces(p->out, n);
		p->col += n;
	}
	p->started = true;
}

/* Writes a comment without blanks at ends of lines. `width`: columns of its last line. */
static void write_comment(struct printer *p, const char *text, uint32_t len, uint32_t width)
{
	const char *end = text + len, *newline;
	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		const char *stop = newline;
		while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
			stop--;
		buf_put(p->out, text, (size_t)(stop - text));
		buf_putc(p->out, '\n');
		p->lines++;
		p->col = 0;
		text = newline + 1;
	}
	buf_put(p->out, text, (size_t)(end - text));
	p->col += width;
}

static void add_newline(struct printer *p, bool blank)
{
	uint32_t n = blank ? 2 : 1;
	if (n > p->pending)
		p->pending = n;
	p->pending_indent = p->indent < MAX_INDENT ? p->indent : MAX_INDENT;
}

static uint32_t column(const struct printer *p) { return p->pending ? p->pending_indent : p->col; }

static bool print_fits(const struct printer *p, uint32_t width) { return width <= FORMAT_WIDTH && column(p) + width <= FORMAT_WIDTH; }

static uint8_t mode(const struct printer *p) { return p->modes.len ? p->modes.at[p->modes.len - 1] : MODE_BROKEN; }

static bool print_is_taken(const struct printer *p, const struct event *event)
{
	if (mode(p) == MODE_FLAT)
		return false;
	if (event->flags & EVENT_ARROW)
		return p->last_mode == MODE_FLAT;
	if (event->flags & EVENT_ASSIGN)
		return event->size <= FORMAT_WIDTH && p->indent + STEP + event->size <= FORMAT_WIDTH + 1;
	return !(event->flags & EVENT_FILL) || !print_fits(p, event->size);
}

static enum mode begin_mode(const struct printer *p, const struct event *event)
{
	if (mode(p) == MODE_FLAT)
		return MODE_FLAT;
	if (event->flags & EVENT_BODY && p->last_end == MODE_BROKEN)
		return MODE_BROKEN;
	return print_fits(p, event->size) ? MODE_FLAT : MODE_BROKEN;
}

static void write_break(struct printer *p, const struct event *event)
{
	if (print_is_taken(p, event)) {
		p->indent += event->flags & EVENT_ASSIGN ? STEP : 0;
		add_newline(p, event->flags & EVENT_BLANK);
		p->indent -= event->flags & EVENT_ASSIGN ? STEP : 0;
	} else if ((event->flags & EVENT_SPACE) && !p->pending) {
		write_gap(p, EVENT_SPACE);
	}
}

static void write_event(struct printer *p, const struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_TEXT:
		write_gap(p, event->flags);
		buf_put(p->out, event->text, event->len);
		p->col += event->size;
		break;
	case EVENT_COMMENT:
		write_gap(p, event->flags);
		write_comment(p, event->text, event->len, event->size);
		break;
	case EVENT_BREAK: write_break(p, event); break;
	case EVENT_BEGIN: vec_push(&p->modes, (uint8_t)begin_mode(p, event)); break;
	case EVENT_END:
		p->last_end = mode(p);
		p->last_mode = event->flags & EVENT_BRACKET ? p->last_end : p->last_mode;
		p->modes.len--;
		break;
	case EVENT_INDENT: p->indent += STEP; break;
	case EVENT_DEDENT: p->indent -= STEP; break;
	case EVENT_COMMA:
		if (mode(p) == MODE_BROKEN)
			buf_putc(p->out, ',');
		break;
	}
}

void printer_flush(struct printer *p)
{
	measure_groups(p);
	for (uint32_t i = 0; i < p->events.len; i++)
		write_event(p, &p->events.at[i]);
	p->events.len = 0;
	p->at = 0;
}

void printer_line(struct printer *p, bool blank)
{
	printer_flush(p);
	add_newline(p, blank);
}

void printer_free(struct printer *p)
{
	vec_free(&p->events);
	vec_free(&p->modes);
	vec_free(&p->open);
}
