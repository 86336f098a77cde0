/* The elaborator's context: errors with the path that led to them, limits, texts for messages. */
#include "frontend/unit/elab.h"
#include "frontend/unit/request.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void elab_init(struct elab *e, struct frontend *f, bool checking)
{
	*e = (struct elab){.f = f, .out = f->diags, .checking = checking};
	e->trash = diags_new(1);
	e->temp = arena_new(16 * 1024);
	static const char *const exits[EXIT_COUNT] = {"$returned", "$result", "$left", "$skipped"};
	for (int i = 0; i < EXIT_COUNT; i++)
		e->exits[i] = intern_str(f->names, exits[i]);
	e->max_steps = ELAB_MAX_STEPS + ELAB_STEPS_PER_TOKEN * f->resolver.n_tokens;
}

void elab_reset(struct elab *e)
{
	e->errors = 0;
	e->gave_up = e->steps > e->max_steps;
	e->locals.len = 0;
}

void elab_free(struct elab *e)
{
	while (e->b)
		builder_close(e);
	diags_free(e->trash);
	vec_free(&e->locals);
	arena_free(e->temp);
}

void elab_hush(struct elab *e)
{
	e->quiet++;
	e->out = e->trash;
}

void elab_unhush(struct elab *e)
{
	if (!--e->quiet)
		e->out = e->f->diags;
}

static bool in_std(const struct elab *e, span at)
{
	return at.source != SPAN_NO_SOURCE && !strncmp(sources_get(e->f->sources, at.source)->path, "std/", 4);
}

/* An error inside the standard library is shown at the call that led there. */
static span blamed(const struct elab *e, span at)
{
	if (!in_std(e, at))
		return at;
	for (struct frame *f = e->frame; f; f = f->up)
		if (f->call_at.source != SPAN_NO_SOURCE && !in_std(e, f->call_at))
			return f->call_at;
	return at;
}

static const char *type_text_in(struct elab *e, const struct builder *b, const struct hir_type *t)
{
	struct buf text = {0};
	buf_printf(&text, "%s[", dtype_text(t->elem));
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(&text, ", ");
		dim_print_apart(b->dims, t->dims[i], &text);
	}
	buf_putc(&text, ']');
	const char *s = arena_strndup(e->f->arena, text.at, text.len);
	buf_free(&text);
	return s;
}

static bool within(span inner, span outer) { return inner.source == outer.source && inner.start >= outer.start && inner.end <= outer.end; }

void elab_label_origin(struct elab *e, struct diag *g, const struct builder *b, hir_ref r, span seen)
{
	const struct hir_node *n = &b->nodes.at[r];
	if (n->at.source == SPAN_NO_SOURCE || in_std(e, n->at) || within(n->at, seen))
		return;
	diag_secondary(e->out, g, n->at, "the %s comes from here", type_text_in(e, b, &n->type));
}

/* The calls that led here, innermost first; of the innermost, where its arguments were made. */
static void label_path(struct elab *e, struct diag *g, enum diag_code code)
{
	bool shapes = (code >= DIAG_ARG_SHAPE && code <= DIAG_SHAPE) || code == DIAG_ASSERT_FAILED;
	span last = SPAN_NONE;
	int shown = 0;
	for (struct frame *f = e->frame; f && !e->checking && shown < 4; f = f->up) {
		if (f->call_at.source == SPAN_NO_SOURCE || !f->what || in_std(e, f->call_at) || !memcmp(&last, &f->call_at, sizeof last))
			continue;
		last = f->call_at;
		diag_secondary(e->out, g, f->call_at, "in %s, used here", f->what);
		for (uint32_t i = 0; f->plan && shapes && !shown && i < f->plan->leaves.len && i < 3; i++)
			elab_label_origin(e, g, f->caller, f->plan->leaves.at[i].caller, f->call_at);
		shown++;
	}
	if ((!e->checking || shapes) && g->n_notes == 0)
		elab_note_instance(e, g);
}

/* Was the same said of this many calls already? */
static bool repeated(struct elab *e, enum diag_code code, const char *text)
{
	enum { ROOM = sizeof e->said / sizeof *e->said };
	if (!e->checking || e->quiet || (code != DIAG_TYPE_MISMATCH && code != DIAG_ARG_SHAPE && code != DIAG_ARG_COUNT))
		return false;
	uint64_t key = map_key_str(text).lo;
	for (uint32_t i = 0; i < ROOM; i++)
		if (e->said[i].times && e->said[i].message == key)
			return e->said[i].times++ >= MOST_REPEATED;
	e->said[e->n_said % ROOM].message = key;
	e->said[e->n_said++ % ROOM].times = 1;
	return false;
}

struct diag *elab_error(struct elab *e, enum diag_code code, span at, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	e->errors++;
	span primary = blamed(e, at);
	struct diag *g = diag_add(repeated(e, code, text) ? e->trash : e->out, code, primary, "%s", text);
	if (primary.source != at.source && !e->std_speaks)
		diag_secondary(e->out, g, at, "in the standard library");
	label_path(e, g, code);
	if (code >= DIAG_ARG_SHAPE && code <= DIAG_SHAPE && strstr(text, "//"))
		diag_note(e->out, g, "`//` rounds down; sizes that are multiples are written so in the signature: `[N, 3, 4*H, 4*W]`");
	return g;
}

/* Limits are reported from within silence too: what comes after them is not looked at. */
static void elab_hear(struct elab *e) { e->out = e->f->diags; }

bool elab_step(struct elab *e, span at)
{
	if (e->gave_up)
		return false;
	if (++e->steps > e->max_steps) {
		e->gave_up = true;
		elab_hear(e);
		struct diag *g = elab_error(e, DIAG_ELAB_STEPS, at, "the elaboration takes more than %" PRIu64 " steps", e->max_steps);
		diag_note(e->out, g, "a loop without end, or calls, layers or types that multiply, make it so long");
		return false;
	}
	if (e->depth > ELAB_MAX_DEPTH) {
		e->gave_up = true;
		elab_hear(e);
		elab_error(e, DIAG_ELAB_DEPTH, at, "the elaboration is nested too deeply");
		return false;
	}
	return true;
}

bool elab_list_fits(struct elab *e, struct value v, span at)
{
	if (value_depth(v) <= 64 && value_total(v) <= 1000000)
		return true;
	elab_error(e, DIAG_ELAB_STEPS, at, "the list is nested more than 64 deep, or has more than 1000000 elements");
	e->gave_up = true;
	return false;
}

struct value elab_list(struct elab *e, struct value v, span at)
{
	e->steps += v.u.seq->n;
	return elab_list_fits(e, v, at) ? v : VALUE_POISON;
}

struct value elab_string(struct elab *e, const char *s, size_t n, span at)
{
	e->steps += n / 64;
	if (n <= 1 << 20)
		return value_str(arena_strndup(e->f->arena, s, n));
	elab_error(e, DIAG_ELAB_STEPS, at, "the string gets longer than a mebibyte");
	e->gave_up = true;
	return VALUE_POISON;
}

/* ---- texts ---- */

const char *text_join(struct elab *e, const char *a, const char *b, const char *c, const char *d)
{
	const char *parts[] = {a, b, c, d};
	size_t n[4], all = 0;
	for (int i = 0; i < 4; i++)
		all += n[i] = strlen(parts[i]);
	char *s = arena_alloc(e->f->arena, all + 1, 1), *at = s;
	for (int i = 0; i < 4; i++) {
		memcpy(at, parts[i], n[i]);
		at += n[i];
	}
	return s;
}

static const char *keep(struct elab *e, struct buf *b)
{
	const char *s = arena_strndup(e->f->arena, b->at ? b->at : "", b->len);
	buf_free(b);
	return s;
}

const char *elab_shape_text(struct elab *e, const struct hir_type *t)
{
	struct buf b = {0};
	buf_putc(&b, '[');
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(&b, ", ");
		int64_t v;
		if (dim_is_const(e->b->dims, t->dims[i], &v) && v == DIM_DYNAMIC)
			buf_putc(&b, '?'); /* as the manifest leaves it */
		else
			dim_print_apart(e->b->dims, t->dims[i], &b);
	}
	buf_putc(&b, ']');
	return keep(e, &b);
}

const char *elab_type_text(struct elab *e, hir_ref r)
{
	const struct hir_type *t = type_of(e, r);
	return arena_printf(e->f->arena, "%s%s", dtype_text(t->elem), elab_shape_text(e, t));
}

const char *elab_value_text(struct elab *e, struct value v)
{
	struct buf b = {0};
	switch (v.kind) {
	case V_TENSOR: return arena_printf(e->f->arena, "a tensor %s", elab_type_text(e, v.u.t));
	case V_INT: buf_puts(&b, "the integer "); break;
	case V_FLOAT: buf_puts(&b, "the float "); break;
	case V_STR: buf_puts(&b, "the string "); break;
	case V_DIM:
		value_print(e->f, e->b->dims, v, &b);
		if (!strcmp(b.at, "?")) { /* of unknown value and without a name */
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
	return keep(e, &b);
}

const char *elab_source_text(struct elab *e, span at)
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
