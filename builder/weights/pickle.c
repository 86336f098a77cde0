/* A pickle is a program of a stack machine (PEP 307, PEP 3154; the module pickletools lists its instructions). Its dangerous part is that it
 * may call any function by name. Here only those of the table `globals` exist, and they build data. */
#include "builder/weights/pickle.h"
#include <string.h>
#include "base/arena.h"
#include "base/vec.h"

enum global { GLOBAL_DICT, GLOBAL_TENSOR, GLOBAL_PARAMETER, GLOBAL_SIZE, GLOBAL_STORAGE };

static const struct {
	const char *module, *name;
	enum global global;
	dtype elem;
} globals[] = {
	{"collections", "OrderedDict", GLOBAL_DICT, DT_COUNT},
	{"torch._utils", "_rebuild_tensor_v2", GLOBAL_TENSOR, DT_COUNT},
	{"torch._utils", "_rebuild_parameter", GLOBAL_PARAMETER, DT_COUNT},
	{"torch", "Size", GLOBAL_SIZE, DT_COUNT},
	{"torch", "FloatStorage", GLOBAL_STORAGE, DT_FLOAT32},
	{"torch", "HalfStorage", GLOBAL_STORAGE, DT_FLOAT16},
	{"torch", "BFloat16Storage", GLOBAL_STORAGE, DT_BFLOAT16},
	{"torch", "DoubleStorage", GLOBAL_STORAGE, DT_FLOAT64},
	{"torch", "CharStorage", GLOBAL_STORAGE, DT_INT8},
	{"torch", "ShortStorage", GLOBAL_STORAGE, DT_INT16},
	{"torch", "IntStorage", GLOBAL_STORAGE, DT_INT32},
	{"torch", "LongStorage", GLOBAL_STORAGE, DT_INT64},
	{"torch", "BoolStorage", GLOBAL_STORAGE, DT_BOOL},
	{"torch", "ByteStorage", GLOBAL_STORAGE, DT_COUNT},
};

struct machine {
	struct arena *a;
	const unsigned char *at, *start, *end;
	VEC(struct pickle *) stack;
	VEC(struct pickle *) memo;
	const char *why; /* the first error, or NULL */
};

static void fail(struct machine *m, const char *what)
{
	if (!m->why)
		m->why = arena_printf(m->a, "%s, before byte %zu of its data.pkl", what, (size_t)(m->at - m->start));
}

/* ---- bytes ---- */

static const unsigned char *take(struct machine *m, uint64_t n)
{
	const unsigned char *p = m->at;
	if (n > (uint64_t)(m->end - m->at)) {
		fail(m, "the pickle is truncated");
		m->at = m->end;
		return NULL;
	}
	m->at += n;
	return p;
}

static uint64_t take_number(struct machine *m, unsigned size)
{
	const unsigned char *p = take(m, size);
	uint64_t v = 0;
	for (unsigned i = size; p && i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

static const char *take_text(struct machine *m, uint64_t n)
{
	const unsigned char *p = take(m, n);
	return p ? arena_strndup(m->a, (const char *)p, (size_t)n) : "";
}

static const char *take_line(struct machine *m)
{
	const unsigned char *nl = memchr(m->at, '\n', (size_t)(m->end - m->at));
	if (!nl) {
		fail(m, "the pickle is truncated");
		return "";
	}
	const char *text = take_text(m, (uint64_t)(nl - m->at));
	m->at++;
	return text;
}

/* ---- the stack ---- */

static struct pickle *push(struct machine *m, enum pickle_kind kind)
{
	struct pickle *p = ARENA_NEW(m->a, struct pickle);
	*p = (struct pickle){.kind = kind, .elem = DT_COUNT};
	vec_push(&m->stack, p);
	return p;
}

static void push_number(struct machine *m, int64_t v) { push(m, PICKLE_INT)->number = v; }
static void push_text(struct machine *m, const char *text) { push(m, PICKLE_TEXT)->text = text; }

/* Never NULL. */
static struct pickle *pop(struct machine *m)
{
	if (m->stack.len)
		return m->stack.at[--m->stack.len];
	fail(m, "the pickle takes a value from an empty stack");
	push(m, PICKLE_OTHER);
	return m->stack.at[--m->stack.len];
}

static struct pickle *top(struct machine *m)
{
	struct pickle *p = pop(m);
	vec_push(&m->stack, p);
	return p;
}

static void append(struct machine *m, struct pickle *to, struct pickle *value)
{
	to->at = arena_grow(m->a, to->at, to->n, &to->cap, to->n + 1, sizeof *to->at);
	to->at[to->n++] = value;
}

/* The index of what follows the last mark, which is removed. */
static uint32_t find_mark(struct machine *m)
{
	uint32_t i = m->stack.len;
	while (i > 0 && m->stack.at[i - 1]->kind != PICKLE_MARK)
		i--;
	if (!i)
		fail(m, "the pickle lacks a mark");
	return i;
}

/* Moves the values behind the mark into a list. */
static void collect(struct machine *m, struct pickle *list)
{
	uint32_t first = find_mark(m);
	for (uint32_t i = first; !m->why && i < m->stack.len; i++)
		append(m, list, m->stack.at[i]);
	m->stack.len = first ? first - 1 : 0;
}

static void push_tuple(struct machine *m, uint32_t n)
{
	struct pickle *values[3] = {NULL};
	for (uint32_t i = n; i-- > 0;)
		values[i] = pop(m);
	struct pickle *t = push(m, PICKLE_LIST);
	for (uint32_t i = 0; i < n; i++)
		append(m, t, values[i]);
}

static void collect_tuple(struct machine *m)
{
	struct pickle values = {0};
	collect(m, &values);
	struct pickle *t = push(m, PICKLE_LIST);
	t->at = values.at;
	t->n = values.n;
	t->cap = values.cap;
}

/* Behind the mark, or the last two values: keys and values. */
static void add_items(struct machine *m, bool marked, enum pickle_kind want)
{
	struct pickle items = {0};
	if (marked) {
		collect(m, &items);
	} else {
		push_tuple(m, want == PICKLE_DICT ? 2 : 1);
		items = *pop(m);
	}
	struct pickle *to = top(m);
	if (to->kind != want || (want == PICKLE_DICT && items.n % 2))
		fail(m, "the pickle adds elements to a value that has none");
	for (uint32_t i = 0; !m->why && i < items.n; i++)
		append(m, to, items.at[i]);
}

/* ---- names and calls ---- */

static void push_global(struct machine *m, const char *module, const char *name)
{
	for (size_t k = 0; k < sizeof globals / sizeof *globals; k++)
		if (strcmp(globals[k].module, module) == 0 && strcmp(globals[k].name, name) == 0) {
			struct pickle *p = push(m, PICKLE_GLOBAL);
			p->number = (int64_t)k;
			p->text = globals[k].name;
			return;
		}
	fail(m, arena_printf(m->a, "it refers to `%s.%s`; only tensors in dictionaries are read", module, name));
}

static const struct pickle *argument(const struct pickle *args, uint32_t i, enum pickle_kind kind)
{
	return i < args->n && args->at[i]->kind == kind ? args->at[i] : NULL;
}

/* ("storage", a storage type, key, device, number of elements) */
static void push_storage(struct machine *m)
{
	const struct pickle *id = pop(m);
	const struct pickle *type = argument(id, 1, PICKLE_GLOBAL), *key = argument(id, 2, PICKLE_TEXT), *n = argument(id, 4, PICKLE_INT);
	if (id->kind != PICKLE_LIST || !type || globals[type->number].global != GLOBAL_STORAGE || !key || !n || n->number < 0) {
		fail(m, "the pickle describes a storage in an unknown way");
		return;
	}
	struct pickle *s = push(m, PICKLE_STORAGE);
	s->elem = globals[type->number].elem;
	s->type = type->text;
	s->text = key->text;
	s->number = n->number;
}

static bool is_tensor(const struct pickle *args)
{
	return argument(args, 0, PICKLE_STORAGE) && argument(args, 1, PICKLE_INT) && argument(args, 2, PICKLE_LIST) &&
	       argument(args, 3, PICKLE_LIST) && args->at[2]->n == args->at[3]->n;
}

static void call(struct machine *m)
{
	struct pickle *args = pop(m), *fn = pop(m), *t;
	enum global g = fn->kind == PICKLE_GLOBAL ? globals[fn->number].global : GLOBAL_STORAGE;
	bool ok = args->kind == PICKLE_LIST && g != GLOBAL_STORAGE;
	if (ok && g == GLOBAL_DICT && args->n == 0) {
		push(m, PICKLE_DICT);
	} else if (ok && g == GLOBAL_TENSOR && is_tensor(args)) {
		t = push(m, PICKLE_TENSOR);
		t->number = args->at[1]->number;
		append(m, t, args->at[0]);
		append(m, t, args->at[2]);
		append(m, t, args->at[3]);
	} else if (ok && g == GLOBAL_PARAMETER && argument(args, 0, PICKLE_TENSOR)) {
		vec_push(&m->stack, args->at[0]);
	} else if (ok && g == GLOBAL_SIZE && argument(args, 0, PICKLE_LIST)) {
		vec_push(&m->stack, args->at[0]);
	} else {
		fail(m, arena_printf(m->a, "the pickle calls `%s` in an unknown way", fn->kind == PICKLE_GLOBAL ? fn->text : "a value"));
	}
}

/* Attributes of dictionaries, such as the versions of modules, are ignored. */
static void set_state(struct machine *m)
{
	pop(m);
	enum pickle_kind kind = top(m)->kind;
	if (kind != PICKLE_DICT && kind != PICKLE_TENSOR)
		fail(m, "the pickle sets attributes of an object");
}

/* ---- the memo ---- */

static void put_memo(struct machine *m, uint64_t i)
{
	if (i > m->memo.len)
		fail(m, "the pickle numbers its values in an unknown way");
	else if (i == m->memo.len)
		vec_push(&m->memo, top(m));
	else
		m->memo.at[i] = top(m);
}

static void get_memo(struct machine *m, uint64_t i)
{
	if (i < m->memo.len)
		vec_push(&m->stack, m->memo.at[i]);
	else
		fail(m, "the pickle refers to a value that it lacks");
}

/* A whole number of n bytes; one of more than 8 is of no interest. */
static void push_long(struct machine *m, uint64_t n)
{
	const unsigned char *p = take(m, n);
	if (!p || n > 8) {
		push(m, PICKLE_OTHER);
		return;
	}
	uint64_t v = n && p[n - 1] & 0x80 ? UINT64_MAX : 0;
	for (uint64_t i = n; i-- > 0;)
		v = v << 8 | p[i];
	push_number(m, (int64_t)v);
}

static void push_global_of_stack(struct machine *m)
{
	const struct pickle *name = pop(m), *module = pop(m);
	if (name->kind == PICKLE_TEXT && module->kind == PICKLE_TEXT)
		push_global(m, module->text, name->text);
	else
		fail(m, "the pickle refers to a name that is no text");
}

static void push_global_of_lines(struct machine *m)
{
	const char *module = take_line(m), *name = take_line(m);
	if (!m->why)
		push_global(m, module, name);
}

/* clang-format off */

/* Numbers, texts and other values. False: it is none of their instructions. */
static bool run_value(struct machine *m, unsigned char op)
{
	switch (op) {
	case 'N': case 0x88: case 0x89: push(m, PICKLE_OTHER); return true; /* None, True, False */
	case 'G': take(m, 8); push(m, PICKLE_OTHER); return true;
	case 'K': push_number(m, (int64_t)take_number(m, 1)); return true;
	case 'M': push_number(m, (int64_t)take_number(m, 2)); return true;
	case 'J': push_number(m, (int32_t)take_number(m, 4)); return true;
	case 0x8a: push_long(m, take_number(m, 1)); return true;
	case 0x8c: push_text(m, take_text(m, take_number(m, 1))); return true;
	case 'X': push_text(m, take_text(m, take_number(m, 4))); return true;
	case 0x8d: push_text(m, take_text(m, take_number(m, 8))); return true;
	case ')': case ']': push(m, PICKLE_LIST); return true;
	case '}': push(m, PICKLE_DICT); return true;
	case '(': push(m, PICKLE_MARK); return true;
	case 'c': push_global_of_lines(m); return true;
	case 0x93: push_global_of_stack(m); return true;
	default: return false;
	}
}

static void run(struct machine *m, unsigned char op)
{
	switch (op) {
	case 0x80: take(m, 1); return; /* the version */
	case 0x95: take(m, 8); return; /* the size of a frame */
	case 't': collect_tuple(m); return;
	case 0x85: push_tuple(m, 1); return;
	case 0x86: push_tuple(m, 2); return;
	case 0x87: push_tuple(m, 3); return;
	case 'q': put_memo(m, take_number(m, 1)); return;
	case 'r': put_memo(m, take_number(m, 4)); return;
	case 0x94: put_memo(m, m->memo.len); return;
	case 'h': get_memo(m, take_number(m, 1)); return;
	case 'j': get_memo(m, take_number(m, 4)); return;
	case 's': add_items(m, false, PICKLE_DICT); return;
	case 'u': add_items(m, true, PICKLE_DICT); return;
	case 'a': add_items(m, false, PICKLE_LIST); return;
	case 'e': add_items(m, true, PICKLE_LIST); return;
	case 'Q': push_storage(m); return;
	case 'R': call(m); return;
	case 'b': set_state(m); return;
	case '0': pop(m); return;
	default: fail(m, arena_printf(m->a, "the pickle has the unknown instruction 0x%02x", op)); return;
	}
}

/* clang-format on */

const struct pickle *pickle_read(struct arena *a, const void *bytes, size_t len, const char **error)
{
	struct machine m = {.a = a, .at = bytes, .start = bytes, .end = (const unsigned char *)bytes + len};
	const struct pickle *result = NULL;
	while (!m.why && !result) {
		const unsigned char *op = take(&m, 1);
		if (op && *op == '.')
			result = pop(&m);
		else if (op && !run_value(&m, *op))
			run(&m, *op);
	}
	vec_free(&m.stack);
	vec_free(&m.memo);
	if (m.why)
		*error = m.why;
	return m.why ? NULL : result;
}
