/* A pickle is a program of a stack machine (PEP 307, PEP 3154; the module pickletools lists its instructions). Its dangerous part is that it
 * may call any function by name. Here only those of pickle_call.c exist, and they build data. */
#include <string.h>
#include "base/arena.h"
#include "builder/weights/pickle_state.h"

void pickle_fail(struct machine *m, const char *what)
{
	if (!m->in.why)
		m->in.why = arena_printf(m->in.a, "%s, before byte %zu of its data.pkl", what, bytes_taken(&m->in));
}

/* ---- bytes ---- */

static const char *pickle_take_text(struct machine *m, uint64_t n)
{
	const unsigned char *p = take_bytes(&m->in, n);
	return p ? arena_strndup(m->in.a, (const char *)p, (size_t)n) : "";
}

static const char *take_line(struct machine *m)
{
	const unsigned char *nl = memchr(m->in.at, '\n', bytes_left(&m->in));
	if (!nl) {
		take_bytes(&m->in, UINT64_MAX); /* it is truncated */
		return "";
	}
	const char *text = pickle_take_text(m, (uint64_t)(nl - m->in.at));
	m->in.at++;
	return text;
}

/* ---- the stack ---- */

struct pickle *pickle_push(struct machine *m, enum pickle_kind kind)
{
	struct pickle *p = ARENA_NEW(m->in.a, struct pickle);
	*p = (struct pickle){.kind = kind, .elem = DT_COUNT};
	vec_push(&m->stack, p);
	return p;
}

/* Never NULL. */
struct pickle *pickle_pop(struct machine *m)
{
	if (m->stack.len)
		return m->stack.at[--m->stack.len];
	pickle_fail(m, "the pickle takes a value from an empty stack");
	pickle_push(m, PICKLE_OTHER);
	return m->stack.at[--m->stack.len];
}

struct pickle *pickle_top(struct machine *m)
{
	struct pickle *p = pickle_pop(m);
	vec_push(&m->stack, p);
	return p;
}

void pickle_append(struct machine *m, struct pickle *to, struct pickle *value)
{
	to->at = arena_grow(m->in.a, to->at, to->n, &to->cap, to->n + 1, sizeof *to->at);
	to->at[to->n++] = value;
}

static void push_number(struct machine *m, int64_t v) { pickle_push(m, PICKLE_INT)->number = v; }
static void push_text(struct machine *m, const char *text) { pickle_push(m, PICKLE_TEXT)->text = text; }

/* The index of what follows the last mark, which is removed. */
static uint32_t find_mark(struct machine *m)
{
	uint32_t i = m->stack.len;
	while (i > 0 && m->stack.at[i - 1]->kind != PICKLE_MARK)
		i--;
	if (!i)
		pickle_fail(m, "the pickle lacks a mark");
	return i;
}

/* Moves the values behind the mark into a list. */
static void pickle_collect(struct machine *m, struct pickle *list)
{
	uint32_t first = find_mark(m);
	for (uint32_t i = first; !m->in.why && i < m->stack.len; i++)
		pickle_append(m, list, m->stack.at[i]);
	m->stack.len = first ? first - 1 : 0;
}

static void push_tuple(struct machine *m, uint32_t n)
{
	struct pickle *values[3] = {NULL};
	for (uint32_t i = n; i-- > 0;)
		values[i] = pickle_pop(m);
	struct pickle *t = pickle_push(m, PICKLE_LIST);
	for (uint32_t i = 0; i < n; i++)
		pickle_append(m, t, values[i]);
}

static void collect_tuple(struct machine *m)
{
	struct pickle values = {0};
	pickle_collect(m, &values);
	struct pickle *t = pickle_push(m, PICKLE_LIST);
	t->at = values.at;
	t->n = values.n;
	t->cap = values.cap;
}

/* Behind the mark, or the last two values: keys and values. */
static void pickle_add_items(struct machine *m, bool marked, enum pickle_kind want)
{
	struct pickle items = {0};
	if (marked) {
		pickle_collect(m, &items);
	} else {
		push_tuple(m, want == PICKLE_DICT ? 2 : 1);
		items = *pickle_pop(m);
	}
	struct pickle *to = pickle_top(m);
	if (to->kind != want || (want == PICKLE_DICT && items.n % 2))
		pickle_fail(m, "the pickle adds elements to a value that has none");
	for (uint32_t i = 0; !m->in.why && i < items.n; i++)
		pickle_append(m, to, items.at[i]);
}

/* ---- the memo ---- */

static void put_memo(struct machine *m, uint64_t i)
{
	if (i > m->memo.len)
		pickle_fail(m, "the pickle numbers its values in an unknown way");
	else if (i == m->memo.len)
		vec_push(&m->memo, pickle_top(m));
	else
		m->memo.at[i] = pickle_top(m);
}

static void get_memo(struct machine *m, uint64_t i)
{
	if (i < m->memo.len)
		vec_push(&m->stack, m->memo.at[i]);
	else
		pickle_fail(m, "the pickle refers to a value that it lacks");
}

/* A whole number of n bytes; one of more than 8 is of no interest. */
static void push_long(struct machine *m, uint64_t n)
{
	const unsigned char *p = take_bytes(&m->in, n);
	if (!p || n > 8) {
		pickle_push(m, PICKLE_OTHER);
		return;
	}
	uint64_t v = little_endian(p, (unsigned)n), sign = n && n < 8 && p[n - 1] & 0x80 ? UINT64_MAX << 8 * n : 0;
	push_number(m, (int64_t)(v | sign));
}

static void push_global_of_stack(struct machine *m)
{
	const struct pickle *name = pickle_pop(m), *module = pickle_pop(m);
	if (name->kind == PICKLE_TEXT && module->kind == PICKLE_TEXT)
		pickle_push_global(m, module->text, name->text);
	else
		pickle_fail(m, "the pickle refers to a name that is no text");
}

static void push_global_of_lines(struct machine *m)
{
	const char *module = take_line(m), *name = take_line(m);
	if (!m->in.why)
		pickle_push_global(m, module, name);
}

/* clang-format off */

/* Numbers, texts and other values. False: it is none of their instructions. */
static bool pickle_run_value(struct machine *m, unsigned char op)
{
	switch (op) {
	case 'N': case 0x88: case 0x89: pickle_push(m, PICKLE_OTHER); return true; /* None, True, False */
	case 'G': take_bytes(&m->in, 8); pickle_push(m, PICKLE_OTHER); return true;
	case 'K': push_number(m, (int64_t)take_number(&m->in, 1)); return true;
	case 'M': push_number(m, (int64_t)take_number(&m->in, 2)); return true;
	case 'J': push_number(m, (int32_t)take_number(&m->in, 4)); return true;
	case 0x8a: push_long(m, take_number(&m->in, 1)); return true;
	case 0x8c: push_text(m, pickle_take_text(m, take_number(&m->in, 1))); return true;
	case 'X': push_text(m, pickle_take_text(m, take_number(&m->in, 4))); return true;
	case 0x8d: push_text(m, pickle_take_text(m, take_number(&m->in, 8))); return true;
	case ')': case ']': pickle_push(m, PICKLE_LIST); return true;
	case '}': pickle_push(m, PICKLE_DICT); return true;
	case '(': pickle_push(m, PICKLE_MARK); return true;
	case 'c': push_global_of_lines(m); return true;
	case 0x93: push_global_of_stack(m); return true;
	default: return false;
	}
}

static void pickle_run(struct machine *m, unsigned char op)
{
	switch (op) {
	case 0x80: take_bytes(&m->in, 1); return; /* the version */
	case 0x95: take_bytes(&m->in, 8); return; /* the size of a frame */
	case 't': collect_tuple(m); return;
	case 0x85: push_tuple(m, 1); return;
	case 0x86: push_tuple(m, 2); return;
	case 0x87: push_tuple(m, 3); return;
	case 'q': put_memo(m, take_number(&m->in, 1)); return;
	case 'r': put_memo(m, take_number(&m->in, 4)); return;
	case 0x94: put_memo(m, m->memo.len); return;
	case 'h': get_memo(m, take_number(&m->in, 1)); return;
	case 'j': get_memo(m, take_number(&m->in, 4)); return;
	case 's': pickle_add_items(m, false, PICKLE_DICT); return;
	case 'u': pickle_add_items(m, true, PICKLE_DICT); return;
	case 'a': pickle_add_items(m, false, PICKLE_LIST); return;
	case 'e': pickle_add_items(m, true, PICKLE_LIST); return;
	case 'Q': pickle_push_storage(m); return;
	case 'R': pickle_call(m); return;
	case 'b': pickle_set_state(m); return;
	case '0': pickle_pop(m); return;
	default: pickle_fail(m, arena_printf(m->in.a, "the pickle has the unknown instruction 0x%02x", op)); return;
	}
}

/* clang-format on */

const struct pickle *pickle_read(struct arena *a, const void *bytes, size_t len, const char **error)
{
	struct machine m = {.in = byte_reader(a, "its data.pkl", bytes, len)};
	const struct pickle *result = NULL;
	while (!m.in.why && !result) {
		const unsigned char *op = take_bytes(&m.in, 1);
		if (op && *op == '.')
			result = pickle_pop(&m);
		else if (op && !pickle_run_value(&m, *op))
			pickle_run(&m, *op);
	}
	vec_free(&m.stack);
	vec_free(&m.memo);
	if (m.in.why)
		*error = m.in.why;
	return m.in.why ? NULL : result;
}
