/* Errors, limits, texts for messages. */
#include "frontend/unit/report.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/unit/emit.h"
#include "frontend/unit/request.h"

void suppress_diags(struct emitter *e)
{
	e->report.suppressed++;
	e->report.out = e->report.discarded;
}

void restore_diags(struct emitter *e)
{
	if (!--e->report.suppressed)
		e->report.out = e->f->diags;
}

bool is_in_std(const struct emitter *e, span at)
{
	return at.source != SPAN_NO_SOURCE && !strncmp(sources_get(e->f->sources, at.source)->path, "std/", 4);
}

/* The place that a diagnostic shows. For an error inside the standard library, that is the call of the library. */
static span shown_at(const struct emitter *e, span at)
{
	if (!is_in_std(e, at))
		return at;
	for (const struct call_site *s = e->report.site; s; s = s->up)
		if (s->at.source != SPAN_NO_SOURCE && !is_in_std(e, s->at))
			return s->at;
	return at;
}

const char *take_text(struct emitter *e, struct buf *b)
{
	const char *s = arena_strndup(e->f->arena, b->at ? b->at : "", b->len);
	buf_free(b);
	return s;
}

static const char *type_text_in(struct emitter *e, const struct builder *b, const struct hir_type *t)
{
	struct buf text = {0};
	buf_printf(&text, "%s[", dtype_text(t->elem));
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(&text, ", ");
		dim_print_apart(b->dims, t->dims[i], &text);
	}
	buf_putc(&text, ']');
	return take_text(e, &text);
}

static bool span_is_inside(span inner, span outer)
{
	return inner.source == outer.source && inner.start >= outer.start && inner.end <= outer.end;
}

void label_origin(struct emitter *e, struct diag *g, const struct builder *b, hir_ref r, span seen)
{
	const struct hir_node *n = &b->nodes.at[r];
	if (n->at.source == SPAN_NO_SOURCE || is_in_std(e, n->at) || span_is_inside(n->at, seen))
		return;
	diag_secondary(e->report.out, g, n->at, "the %s comes from here", type_text_in(e, b, &n->type));
}

/* Labels the calls that led here, innermost first, and where the innermost call's operands were made. */
static void label_path(struct emitter *e, struct diag *g, enum diag_code code)
{
	bool shapes = (code >= DIAG_ARG_SHAPE && code <= DIAG_SHAPE) || code == DIAG_ASSERT_FAILED;
	span last = SPAN_NONE;
	int shown = 0;
	for (const struct call_site *s = e->report.site; s && !e->checking && shown < 4; s = s->up) {
		if (s->at.source == SPAN_NO_SOURCE || !s->callee || is_in_std(e, s->at) || !memcmp(&last, &s->at, sizeof last))
			continue;
		last = s->at;
		diag_secondary(e->report.out, g, s->at, "in %s, used here", s->callee);
		for (uint32_t i = 0; shapes && !shown && i < s->n_operands; i++)
			label_origin(e, g, s->caller, s->operands[i], s->at);
		shown++;
	}
	if ((!e->checking || shapes) && g->n_notes == 0)
		note_instance_path(e, g);
}

/* True if the same message was reported for MOST_REPEATED calls already. */
static bool report_is_repeated(struct emitter *e, enum diag_code code, const char *text)
{
	if (!e->checking || e->report.suppressed || (code != DIAG_TYPE_MISMATCH && code != DIAG_ARG_SHAPE && code != DIAG_ARG_COUNT))
		return false;
	uint64_t key = map_key_str(text).lo;
	for (uint32_t i = 0; i < RECENT_MESSAGES; i++)
		if (e->report.recent[i].times && e->report.recent[i].message == key)
			return e->report.recent[i].times++ >= MOST_REPEATED;
	e->report.recent[e->report.n_recent % RECENT_MESSAGES].message = key;
	e->report.recent[e->report.n_recent++ % RECENT_MESSAGES].times = 1;
	return false;
}

struct diag *report_error(struct emitter *e, enum diag_code code, span at, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	e->report.errors++;
	span primary = shown_at(e, at);
	struct diag *g = diag_add(report_is_repeated(e, code, text) ? e->report.discarded : e->report.out, code, primary, "%s", text);
	if (primary.source != at.source && !e->report.about_call)
		diag_secondary(e->report.out, g, at, "in the standard library");
	label_path(e, g, code);
	if (code >= DIAG_ARG_SHAPE && code <= DIAG_SHAPE && strstr(text, "//"))
		diag_note(e->report.out, g, "`//` rounds down; if a size is a multiple, write it so in the signature: `[N, 3, 4*H, 4*W]`");
	return g;
}

/* Limits are reported even while diagnostics are suppressed, since elaboration stops. */
static void show_diags(struct emitter *e) { e->report.out = e->f->diags; }

bool count_step(struct emitter *e, span at)
{
	if (e->report.gave_up)
		return false;
	if (++e->report.steps > e->report.max_steps) {
		e->report.gave_up = true;
		show_diags(e);
		struct diag *g =
			report_error(e, DIAG_ELAB_STEPS, at, "the elaboration takes more than %" PRIu64 " steps", e->report.max_steps);
		diag_note(e->report.out, g, "the cause is an endless loop, or calls, layers or types that multiply");
		return false;
	}
	if (e->report.depth > ELAB_MAX_DEPTH) {
		e->report.gave_up = true;
		show_diags(e);
		return report_false(e, DIAG_ELAB_DEPTH, at, "the elaboration is nested too deeply");
	}
	return true;
}

bool check_list_size(struct emitter *e, struct value v, span at)
{
	if (value_depth(v) <= 64 && value_count(v) <= 1000000)
		return true;
	report_error(e, DIAG_ELAB_STEPS, at, "the list is nested more than 64 deep, or has more than 1000000 elements");
	e->report.gave_up = true;
	return false;
}

struct value checked_list(struct emitter *e, struct value v, span at)
{
	e->report.steps += v.u.seq->n;
	return check_list_size(e, v, at) ? v : VALUE_POISON;
}

struct value checked_string(struct emitter *e, const char *s, size_t n, span at)
{
	e->report.steps += n / 64;
	if (n <= 1 << 20)
		return value_str(arena_strndup(e->f->arena, s, n));
	report_error(e, DIAG_ELAB_STEPS, at, "the string is longer than 1 MiB");
	e->report.gave_up = true;
	return VALUE_POISON;
}

void help_unknown_size(struct emitter *e, struct diag *g, const struct dims *in, dim a, dim b)
{
	int64_t n;
	bool first = dim_is_const(in, a, &n), second = !first && dim_is_const(in, b, &n);
	if (!first && !second) {
		diag_help(e->report.out, g, "a size known only at run time matches no other: declare it in the signature");
		return;
	}
	struct buf size = {0};
	dim_print(in, first ? b : a, &size);
	bool numbered = size.len > 1 && size.at[0] == 'D' && strspn(size.at + 1, "0123456789") == size.len - 1;
	diag_help(
		e->report.out, g,
		"`%s`%s is known only at run time, but %lld is needed: write that number in the entry's signature, or set the size in `tri.build`",
		size.at, numbered ? ", a `?` of the signature," : "", (long long)n);
	buf_free(&size);
}

/* ---- texts ---- */

const char *text_join(struct emitter *e, const char *a, const char *b, const char *c, const char *d)
{
	size_t na = strlen(a), nb = strlen(b), nc = strlen(c), nd = strlen(d) + 1;
	char *s = arena_alloc(e->f->arena, na + nb + nc + nd, 1);
	memcpy(s, a, na);
	memcpy(s + na, b, nb);
	memcpy(s + na + nb, c, nc);
	memcpy(s + na + nb + nc, d, nd);
	return s;
}

const char *shape_text(struct emitter *e, const struct hir_type *t)
{
	struct buf b = {0};
	buf_putc(&b, '[');
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(&b, ", ");
		int64_t v;
		if (dim_is_const(e->b->dims, t->dims[i], &v) && v == DIM_DYNAMIC)
			buf_putc(&b, '?'); /* as the manifest writes it */
		else
			dim_print_apart(e->b->dims, t->dims[i], &b);
	}
	buf_putc(&b, ']');
	return take_text(e, &b);
}

const char *type_text(struct emitter *e, hir_ref r)
{
	const struct hir_type *t = type_of(e, r);
	return arena_printf(e->f->arena, "%s%s", dtype_text(t->elem), shape_text(e, t));
}

const char *value_text(struct emitter *e, struct value v)
{
	struct buf b = {0};
	switch (v.kind) {
	case V_TENSOR: return arena_printf(e->f->arena, "a tensor %s", type_text(e, v.u.t));
	case V_INT: buf_puts(&b, "the integer "); break;
	case V_FLOAT: buf_puts(&b, "the float "); break;
	case V_STR: buf_puts(&b, "the string "); break;
	case V_DIM:
		value_print(e->f, e->b->dims, v, &b);
		if (!strcmp(b.at, "?")) { /* neither a value nor a name is known */
			buf_free(&b);
			return "an integer";
		}
		b.len = 0;
		buf_puts(&b, "the size ");
		break;
	case V_TUPLE:
		if (v.u.seq->n && v.u.seq->at[0].kind == V_PARTIAL)
			return arena_printf(e->f->arena, "the layer `%s` with some of its arguments",
					    name_text(e->f, v.u.seq->at[0].u.partial->fn->name));
		return arena_printf(e->f->arena, "a tuple of %u", v.u.seq->n);
	case V_LIST: return arena_printf(e->f->arena, "a list of %u", v.u.seq->n);
	case V_BOOL: break;
	default: return value_kind_text(v);
	}
	value_print(e->f, e->b->dims, v, &b);
	return take_text(e, &b);
}

const char *source_excerpt(struct emitter *e, span at)
{
	const struct source *s = at.source == SPAN_NO_SOURCE ? NULL : sources_get(e->f->sources, at.source);
	if (!s || at.end > s->len || at.start >= at.end)
		return "this";
	uint32_t n = at.end - at.start;
	const char *text = s->text + at.start, *line = memchr(text, '\n', n);
	bool cut = line || n > 40;
	if (line)
		n = (uint32_t)(line - text);
	if (n > 40)
		for (n = 37; n > 30 && (text[n] & 0xc0) == 0x80;)
			n--;
	return text_join(e, "`", arena_strndup(e->f->arena, text, n), cut ? "…" : "", "`");
}
