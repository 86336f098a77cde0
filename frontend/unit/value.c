/* Compile-time values: construction, comparison, text and hash. */
#include "frontend/unit/value.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/half.h"
#include "frontend/names/module.h"

struct value value_dim(const struct dims *d, dim x)
{
	int64_t v;
	return dim_is_const(d, x, &v) ? value_int(v) : (struct value){.kind = V_DIM, .u.d = x};
}

dtype scalar_type(struct value v)
{
	if (v.typed)
		return (dtype)(v.typed - 1);
	switch (v.kind) {
	case V_FLOAT: return DT_FLOAT32;
	case V_BOOL: return DT_BOOL;
	case V_TRIT: return DT_TRIT;
	case V_DIM: return DT_INT64;
	default: return DT_INT32;
	}
}

double round_float(double d, dtype t)
{
	switch (t) {
	case DT_FLOAT16: return float16_value(float16_bits(d));
	case DT_BFLOAT16: return bfloat16_value(bfloat16_bits(d));
	case DT_FLOAT32: return (double)(float)d;
	default: return d;
	}
}

double number_as(struct value v, dtype t)
{
	int64_t i = v.kind == V_BOOL ? v.u.b : v.u.i;
	if (v.kind == V_FLOAT)
		return round_float(v.u.f, t);
	return t == DT_FLOAT32 ? (double)(float)i : round_float((double)i, t); /* not by way of double: rounded once */
}

void float_bytes(double d, dtype t, void *out)
{
	float f = (float)d;
	uint16_t h = t == DT_FLOAT16 ? float16_bits(d) : bfloat16_bits(d);
	const void *from = t == DT_FLOAT64 ? (void *)&d : t == DT_FLOAT32 ? (void *)&f : (void *)&h;
	memcpy(out, from, dtype_size(t));
}

struct value value_with_type(struct value v, dtype t)
{
	if (v.kind != V_INT && v.kind != V_FLOAT && v.kind != V_DIM) /* bools and trits have one type */
		return v;
	if (dtype_class(t) == DTC_FLOAT && v.kind != V_DIM)
		v = value_float(number_as(v, t));
	v.typed = (uint8_t)(t + 1);
	return v;
}

struct value value_seq(struct arena *a, enum value_kind kind, uint32_t n)
{
	struct seq *s = ARENA_NEW(a, struct seq);
	s->n = n;
	s->at = n ? ARENA_ARRAY(a, struct value, n) : NULL;
	return (struct value){.kind = kind, .u.seq = s};
}

/* Computes the sums of a complete list from the sums of its elements. */
static const struct seq *summed(struct value v)
{
	struct seq *s = v.u.seq;
	if (s->summed)
		return s;
	uint64_t total = s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		struct value x = s->at[i];
		s->kinds |= 1u << x.kind;
		if (x.kind == V_TEXT || x.kind == V_STACKED)
			s->kinds |= 1u << V_TENSOR;
		if (x.kind == V_RANGE)
			s->kinds |= 1u << x.u.range->from.kind | 1u << x.u.range->to.kind;
		if (!value_is_seq(x))
			continue;
		const struct seq *inner = summed(x);
		s->kinds |= inner->kinds;
		total += inner->total;
		if (inner->depth >= s->depth)
			s->depth = inner->depth;
	}
	s->depth++;
	s->total = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
	s->summed = true;
	return s;
}

/* Copies the elements of `a` to a block twice as large as needed; short lists get an exact fit. */
static void grow_capacity(struct arena *arena, struct seq *s, const struct seq *a, uint32_t n)
{
	uint32_t size = n < 16 ? n : 2 * n;
	s->at = size ? ARENA_ARRAY(arena, struct value, size) : NULL;
	for (uint32_t i = 0; i < a->n; i++)
		s->at[i] = a->at[i];
	if (size == n)
		return;
	s->capacity = ARENA_NEW(arena, struct seq_capacity);
	*s->capacity = (struct seq_capacity){a->n, size};
}

struct value value_concat(struct arena *arena, struct value a, struct value b, uint32_t *copied)
{
	const struct seq *first = summed(a), *second = summed(b);
	struct seq *s = ARENA_NEW(arena, struct seq);
	uint32_t n = first->n + second->n;
	uint64_t total = (uint64_t)first->total + second->total;
	*s = (struct seq){.n = n, .kinds = first->kinds | second->kinds, .at = first->at, .capacity = first->capacity, .summed = true};
	s->total = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
	s->depth = first->depth > second->depth ? first->depth : second->depth;
	*copied = second->n;
	if (!s->capacity || s->capacity->used != first->n || s->capacity->size < n) {
		s->capacity = NULL;
		grow_capacity(arena, s, first, n);
		*copied = n;
	}
	for (uint32_t i = 0; i < second->n; i++)
		s->at[first->n + i] = second->at[i];
	if (s->capacity)
		s->capacity->used = n;
	return (struct value){.kind = a.kind, .u.seq = s};
}

uint32_t value_count(struct value v) { return value_is_seq(v) ? summed(v)->total : 1; }
uint32_t value_depth(struct value v) { return value_is_seq(v) ? summed(v)->depth : 0; }

bool value_contains(struct value v, enum value_kind kind)
{
	if (v.kind == kind || ((v.kind == V_TEXT || v.kind == V_STACKED) && kind == V_TENSOR))
		return true;
	if (v.kind == V_RANGE)
		return v.u.range->from.kind == kind || v.u.range->to.kind == kind;
	return value_is_seq(v) && (summed(v)->kinds >> kind & 1);
}

bool value_is_same(struct value a, struct value b)
{
	if (a.kind != b.kind || (a.typed != b.typed && value_is_scalar(a)))
		return false;
	switch (a.kind) {
	case V_POISON:
	case V_NONE:
	case V_COLLECTED:
	case V_VOID: return true;
	case V_BOOL: return a.u.b == b.u.b;
	case V_FLOAT: return !memcmp(&a.u.f, &b.u.f, sizeof a.u.f);
	case V_DIM: return dim_eq(a.u.d, b.u.d);
	case V_STACKED:
	case V_TENSOR: return a.u.t == b.u.t;
	case V_UNSET:
	case V_INT:
	case V_TRIT: return a.u.i == b.u.i;
	case V_STR: return !strcmp(a.u.s, b.u.s);
	case V_BUILTIN: return a.u.builtin == b.u.builtin;
	case V_SPECIAL: return a.u.special == b.u.special;
	case V_DTYPE: return a.u.dt == b.u.dt;
	case V_PARTIAL: return a.u.partial->fn == b.u.partial->fn;
	default: return a.u.seq == b.u.seq;
	}
}

const char *value_kind_text(struct value v)
{
	switch (v.kind) {
	case V_POISON: return "an unknown value";
	case V_NONE: return "none";
	case V_VOID: return "nothing";
	case V_UNSET: return "a local without a value";
	case V_INT:
	case V_DIM: return "an integer";
	case V_FLOAT: return "a float";
	case V_BOOL: return "a bool";
	case V_TRIT: return "a trit";
	case V_STR: return "a string";
	case V_TEXT: return "a string with run-time values";
	case V_TUPLE: return "a tuple";
	case V_LIST: return "a list";
	case V_RANGE: return "a range";
	case V_STACKED: return "a list whose length is known only at run time";
	case V_COLLECTED: return "the results of earlier iterations";
	case V_TENSOR: return "a tensor";
	case V_LAYER: return "a layer instance";
	case V_LAYER_CLASS: return "a layer";
	case V_PARTIAL: return "a layer with some of its arguments";
	case V_FN:
	case V_BUILTIN:
	case V_SPECIAL: return "a function";
	case V_DTYPE:
	case V_TYPE: return "a type";
	case V_MODULE: return "a module";
	}
	return "a value";
}

static void value_print_value(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out, size_t end);

static void print_seq(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out, size_t end)
{
	buf_putc(out, v.kind == V_LIST ? '[' : '(');
	for (uint32_t i = 0; i < v.u.seq->n; i++) {
		if (i)
			buf_puts(out, ", ");
		if (out->len > end) {
			buf_puts(out, "…");
			break;
		}
		value_print_value(f, dims, v.u.seq->at[i], out, end);
	}
	buf_putc(out, v.kind == V_LIST ? ']' : ')');
}

static void value_print_value(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out, size_t end)
{
	switch (v.kind) {
	case V_INT:
	case V_TRIT: buf_printf(out, "%lld", (long long)v.u.i); break;
	case V_DIM: dim_print(dims, v.u.d, out); break;
	case V_FLOAT: buf_printf(out, "%g", v.u.f); break;
	case V_BOOL: buf_puts(out, v.u.b ? "true" : "false"); break;
	case V_STR: buf_printf(out, "\"%.40s\"", v.u.s); break;
	case V_NONE: buf_puts(out, "none"); break;
	case V_TUPLE:
	case V_LIST: print_seq(f, dims, v, out, end); break;
	case V_LAYER: instance_print(f, v.u.layer, out); break;
	case V_FN: buf_puts(out, name_text(f, v.u.fn->name)); break;
	case V_PARTIAL: buf_puts(out, name_text(f, v.u.partial->fn->name)); break;
	case V_LAYER_CLASS: buf_puts(out, name_text(f, v.u.item->name)); break;
	case V_DTYPE: buf_puts(out, dtype_text(v.u.dt)); break;
	case V_BUILTIN: buf_puts(out, builtin_name(v.u.builtin)); break;
	default: buf_puts(out, value_kind_text(v)); break;
	}
}

void instance_print(const struct frontend *f, const struct instance *in, struct buf *out)
{
	const struct ast *t = &in->item->mod->ast;
	struct ast_nodes params = ast_fn(t, in->item->node).params;
	bool first = true;
	buf_printf(out, in->generic ? "%s(…" : "%s(", name_text(f, in->item->name));
	for (uint32_t i = 0; i < params.n && i < in->n_members; i++) {
		if (i >= 64 || !(in->given >> i & 1))
			continue;
		if (!first)
			buf_puts(out, ", ");
		first = false;
		if (ast_b(t, params.at[i]) != AST_NONE)
			buf_printf(out, "%s=", name_text(f, in->members[i].name));
		value_print(f, in->dims, in->members[i].value, out);
	}
	buf_putc(out, ')');
}

void value_print(const struct frontend *f, const struct dims *dims, struct value v, struct buf *out)
{
	value_print_value(f, dims, v, out, out->len + 120);
}

/* Functions of blocks differ by their places in the definition around them. */
static void func_hash_identity(struct hasher *h, const struct frontend *f, const struct func *fn)
{
	item_hash_identity(h, f, fn->item);
	if (fn->local)
		hasher_add_u64(h, ast_token(&fn->mod->ast, fn->node) - ast_token(&fn->mod->ast, fn->item->node));
}

void value_hash(struct hasher *h, const struct frontend *f, struct value v)
{
	uint64_t bits;
	hasher_add_u64(h, (uint64_t)(value_is_scalar(v) ? v.typed : 0) << 8 | v.kind);
	switch (v.kind) {
	case V_INT:
	case V_TRIT: hasher_add_u64(h, (uint64_t)v.u.i); break;
	case V_BOOL: hasher_add_u64(h, v.u.b); break;
	case V_FLOAT:
		memcpy(&bits, &v.u.f, sizeof bits);
		hasher_add_u64(h, bits);
		break;
	case V_STR: hasher_add_str(h, v.u.s); break;
	case V_TEXT: hasher_add_str(h, v.u.text->template); break;
	case V_TUPLE:
	case V_LIST:
		hasher_add_u64(h, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			value_hash(h, f, v.u.seq->at[i]);
		break;
	case V_RANGE:
		value_hash(h, f, v.u.range->from);
		value_hash(h, f, v.u.range->to);
		hasher_add_u64(h, (uint64_t)v.u.range->step);
		break;
	case V_LAYER: hasher_add_hash(h, v.u.layer->key); break;
	case V_FN:
		func_hash_identity(h, f, v.u.fn);
		hasher_add_str(h, name_text(f, v.u.fn->name));
		if (v.u.fn->self)
			hasher_add_hash(h, v.u.fn->self->key);
		break;
	case V_PARTIAL: func_hash_identity(h, f, v.u.partial->fn); break;
	case V_LAYER_CLASS:
	case V_TYPE: item_hash_identity(h, f, v.u.item); break;
	case V_BUILTIN: hasher_add_str(h, builtin_name(v.u.builtin)); break;
	case V_SPECIAL: hasher_add_u64(h, v.u.special); break;
	case V_DTYPE: hasher_add_u64(h, v.u.dt); break;
	case V_MODULE: hasher_add_str(h, v.u.mod->path); break;
	case V_POISON:
	case V_STACKED:
	case V_COLLECTED:
	case V_NONE:
	case V_VOID:
	case V_UNSET:
	case V_DIM:
	case V_TENSOR: break;
	}
}

struct member *instance_member(const struct instance *in, name_id name)
{
	for (uint32_t i = in->n_members; i-- > 0;)
		if (in->members[i].name == name)
			return &in->members[i];
	return NULL;
}
