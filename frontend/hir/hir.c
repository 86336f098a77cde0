/* Units: content hash and text form. */
#include "frontend/hir/hir.h"
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"

static const char *const builtin_names[BI_COUNT] = {
#define BUILTIN(id, name, ...) [BI_##id] = name,
#include "frontend/hir/builtins.def"
#undef BUILTIN
};

const char *builtin_name(enum builtin b) { return builtin_names[b]; }

/* ---- hash ---- */

static void hir_hash_dim(struct hasher *h, const struct dims *d, dim x)
{
	struct dim_step steps[256];
	uint32_t n = dim_program(d, x, steps, 256);
	hasher_add_u64(h, n);
	if (n > 256) { /* longer programs are hashed as text */
		struct buf text = {0};
		dim_print(d, x, &text);
		hasher_add_str(h, text.at);
		buf_free(&text);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		hasher_add_u64(h, steps[i].op);
		hasher_add_u64(h, (uint64_t)steps[i].value);
	}
}

static void hir_hash_type(struct hasher *h, const struct dims *d, const struct hir_type *t)
{
	hasher_add_u64(h, t->elem);
	hasher_add_u64(h, t->rank);
	for (uint32_t i = 0; i < t->rank; i++)
		hir_hash_dim(h, d, t->dims[i]);
}

static void hash_arg(struct hasher *h, const struct hir_unit *u, const struct hir_arg *a)
{
	uint64_t bits;
	hasher_add_u64(h, a->kind);
	switch (a->kind) {
	case ARG_NONE: break;
	case ARG_TENSOR: hasher_add_u64(h, a->u.tensor); break;
	case ARG_INT:
	case ARG_BOOL: hasher_add_u64(h, (uint64_t)a->u.i); break;
	case ARG_FLOAT:
		memcpy(&bits, &a->u.f, sizeof bits);
		hasher_add_u64(h, bits);
		break;
	case ARG_STR: hasher_add_str(h, a->u.s); break;
	case ARG_DIM: hir_hash_dim(h, u->dims, a->u.d); break;
	case ARG_LIST:
		hasher_add_u64(h, a->u.list.n);
		for (uint32_t i = 0; i < a->u.list.n; i++)
			hash_arg(h, u, &u->args[a->u.list.start + i]);
		break;
	}
}

static size_t hir_const_bytes(const struct hir_unit *u, const struct hir_type *t)
{
	size_t n = dtype_size(t->elem);
	for (uint32_t i = 0; i < t->rank; i++) {
		int64_t size;
		BUG_ON(!dim_is_const(u->dims, t->dims[i], &size));
		n *= (size_t)size;
	}
	return n;
}

static void hash_node(struct hasher *h, const struct hir_unit *u, const struct hir_node *n)
{
	hasher_add_u64(h, (uint64_t)n->kind << 1 | n->build_time);
	hir_hash_type(h, u->dims, &n->type);
	switch (n->kind) {
	case HIR_INPUT: hasher_add_u64(h, n->index); break;
	case HIR_CONST:
		if (n->data)
			hasher_add(h, n->data, hir_const_bytes(u, &n->type));
		else /* unknown to a check, even its size */
			hasher_add_str(h, "unknown");
		break;
	case HIR_DIM: hir_hash_dim(h, u->dims, n->extent); break;
	case HIR_RESULT:
		hasher_add_u64(h, n->source);
		hasher_add_u64(h, n->index);
		break;
	case HIR_IF:
	case HIR_CALL:
	case HIR_LOOP:
		hasher_add_hash(h, n->callee->identity);
		if (n->other)
			hasher_add_hash(h, n->other->identity);
		for (uint32_t i = 0; i < dims_syms(n->callee->dims); i++)
			hir_hash_dim(h, u->dims, n->callee_syms[i]);
		break;
	case HIR_BUILTIN: hasher_add_str(h, builtin_names[n->builtin]); break;
	case HIR_PRINT:
	case HIR_ASSERT: break;
	}
	hasher_add_u64(h, n->n_args);
	for (uint32_t i = 0; i < n->n_args; i++)
		hash_arg(h, u, &u->args[n->args + i]);
}

hash128 hir_unit_hash(const struct hir_unit *u)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, "unit 1");
	hasher_add_u64(h, (uint64_t)(uint8_t)u->opt << 1 | u->never_inline);
	hasher_add_u64(h, dims_syms(u->dims));
	hasher_add_u64(h, u->n_inputs);
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		hasher_add_u64(h, (uint64_t)u->inputs[i].grows << 1 | u->inputs[i].build_time);
		hir_hash_type(h, u->dims, &u->inputs[i].type);
	}
	hasher_add_u64(h, u->n_nodes);
	for (uint32_t i = 0; i < u->n_nodes; i++)
		hash_node(h, u, &u->nodes[i]);
	hasher_add_u64(h, u->n_outputs);
	for (uint32_t i = 0; i < u->n_outputs; i++)
		hasher_add_u64(h, (uint64_t)u->outputs[i].state << 32 | u->outputs[i].node);
	return hasher_finish(h);
}

hash128 hir_unit_hash_all(const struct hir_unit *u)
{
	hash128 h = hir_unit_hash(u);
	for (uint32_t k = 0; k < u->n_nodes; k++) {
		const struct hir_node *n = &u->nodes[k];
		if (hir_calls(n->kind))
			h = hash_combine(h, hir_unit_hash_all(n->callee));
		if (n->other)
			h = hash_combine(h, hir_unit_hash_all(n->other));
	}
	return h;
}

/* ---- text ---- */

static void hir_print_type(const struct hir_unit *u, const struct hir_type *t, struct buf *out)
{
	buf_puts(out, dtype_text(t->elem));
	buf_putc(out, '[');
	for (uint32_t i = 0; i < t->rank; i++) {
		if (i)
			buf_puts(out, ", ");
		dim_print(u->dims, t->dims[i], out);
	}
	buf_putc(out, ']');
}

static void print_string(const char *s, struct buf *out)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		if (*s == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *s);
	}
	buf_putc(out, '"');
}

static void print_arg(const struct hir_unit *u, const struct hir_arg *a, struct buf *out)
{
	switch (a->kind) {
	case ARG_NONE: buf_puts(out, "none"); break;
	case ARG_TENSOR: buf_printf(out, "%%%u", a->u.tensor); break;
	case ARG_INT: buf_printf(out, "%lld", (long long)a->u.i); break;
	case ARG_BOOL: buf_puts(out, a->u.i ? "true" : "false"); break;
	case ARG_FLOAT: buf_printf(out, "%.9g", a->u.f); break;
	case ARG_STR: print_string(a->u.s, out); break;
	case ARG_DIM:
		buf_putc(out, '{');
		dim_print(u->dims, a->u.d, out);
		buf_putc(out, '}');
		break;
	case ARG_LIST:
		buf_putc(out, '[');
		for (uint32_t i = 0; i < a->u.list.n; i++) {
			if (i)
				buf_puts(out, ", ");
			print_arg(u, &u->args[a->u.list.start + i], out);
		}
		buf_putc(out, ']');
		break;
	}
}

static void print_element(dtype t, const void *data, size_t i, struct buf *out)
{
	const unsigned char *p = (const unsigned char *)data + i * dtype_size(t);
	uint16_t h;
	float f;
	double g;
	switch (t) {
	case DT_BOOL: buf_puts(out, *p ? "true" : "false"); break;
	case DT_UINT8:
	case DT_TRIT:
	case DT_INT8:
	case DT_INT16:
	case DT_INT32:
	case DT_INT64: buf_printf(out, "%lld", (long long)dtype_int(t, data, (int64_t)i)); break;
	case DT_FLOAT16:
	case DT_BFLOAT16: memcpy(&h, p, sizeof h), buf_printf(out, "0x%04x", h); break;
	case DT_FLOAT32: memcpy(&f, p, sizeof f), buf_printf(out, "%.9g", (double)f); break;
	case DT_FLOAT64: memcpy(&g, p, sizeof g), buf_printf(out, "%.17g", g); break;
	case DT_COUNT: BUG("no element type");
	}
}

static void print_const(const struct hir_unit *u, const struct hir_node *n, struct buf *out)
{
	size_t count = hir_const_bytes(u, &n->type) / dtype_size(n->type.elem), shown = count < 8 ? count : 8;
	buf_puts(out, "const ");
	for (size_t i = 0; i < shown; i++) {
		if (i)
			buf_puts(out, ", ");
		print_element(n->type.elem, n->data, i, out);
	}
	if (shown < count)
		buf_puts(out, ", …");
}

static const char *operation_text(const struct hir_node *n)
{
	switch (n->kind) {
	case HIR_CALL:
	case HIR_IF:
	case HIR_LOOP: return n->callee->symbol;
	case HIR_PRINT: return "print";
	case HIR_ASSERT: return "assert";
	default: return builtin_names[n->builtin];
	}
}

static void print_call(const struct hir_unit *u, const struct hir_node *n, struct buf *out)
{
	uint32_t syms = hir_calls(n->kind) ? dims_syms(n->callee->dims) : 0;
	buf_puts(out, n->kind == HIR_IF ? "if " : n->kind == HIR_LOOP ? "loop " : "");
	buf_puts(out, operation_text(n));
	buf_printf(out, "%s%s(", n->other ? " else " : "", n->other ? n->other->symbol : "");
	for (uint32_t i = 0; i < n->n_args; i++) {
		if (i)
			buf_puts(out, ", ");
		print_arg(u, &u->args[n->args + i], out);
	}
	buf_putc(out, ')');
	for (uint32_t i = 0; i < syms; i++) {
		buf_printf(out, "%s%s = ", i ? ", " : " where ", dims_sym_name(n->callee->dims, i));
		dim_print(u->dims, n->callee_syms[i], out);
	}
}

static void print_node(const struct hir_unit *u, hir_ref r, struct buf *out)
{
	const struct hir_node *n = &u->nodes[r];
	buf_printf(out, "  %%%u: ", r);
	hir_print_type(u, &n->type, out);
	buf_puts(out, n->build_time ? " := " : " = ");
	switch (n->kind) {
	case HIR_INPUT:
		buf_printf(out, "input %s", u->inputs[n->index].name);
		if (u->inputs[n->index].grows)
			buf_printf(out, " grows along %u", u->inputs[n->index].grows - 1u);
		break;
	case HIR_CONST: print_const(u, n, out); break;
	case HIR_DIM:
		buf_puts(out, "dim ");
		dim_print(u->dims, n->extent, out);
		break;
	case HIR_RESULT: buf_printf(out, "result %%%u.%u", n->source, n->index); break;
	case HIR_CALL:
	case HIR_PRINT:
	case HIR_ASSERT:
	case HIR_IF:
	case HIR_LOOP:
	case HIR_BUILTIN: print_call(u, n, out); break;
	}
	buf_putc(out, '\n');
}

void hir_print(const struct hir_unit *u, struct buf *out)
{
	buf_printf(out, "unit %s%s {  # %s\n", u->symbol, u->always_inline ? " inline" : "", u->name);
	for (uint32_t i = 0; i < u->n_nodes; i++)
		print_node(u, i, out);
	for (uint32_t i = 0; i < u->n_outputs; i++)
		buf_printf(out, "  %s = %%%u%s%s\n", u->outputs[i].name, u->outputs[i].node, u->outputs[i].state ? " next " : "",
			   u->outputs[i].state ? u->inputs[u->outputs[i].state - 1].name : "");
	buf_puts(out, "}\n");
}
