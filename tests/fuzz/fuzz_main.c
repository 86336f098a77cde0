/* A program that checks also runs: whatever the input grows into, elaborating, lowering, optimising and interpreting its main block must not
 * crash, and the passes must not change what integers are printed. The bytes are choices; tensors are small, loops short. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp.h"
#include "backend/ir.h"
#include "backend/lower.h"
#include "backend/passes.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/core.h"
#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- programs from choices ---- */

enum kind { FLOAT, INT, TRIT, BOOL, KINDS };
struct var {
	enum kind kind;
	int rank, dims[3];
};
struct grower {
	const uint8_t *at, *end;
	struct buf out;
	struct var vars[40]; /* v0, v1, …: tensors in scope */
	int n, indent;
};

static int pick(struct grower *g, int n) { return g->at < g->end ? *g->at++ % n : 0; }
static int any(struct grower *g) { return pick(g, g->n); }

static void line(struct grower *g)
{
	buf_putc(&g->out, '\n');
	for (int i = 0; i < g->indent; i++)
		buf_puts(&g->out, "    ");
}

static int declare(struct grower *g, enum kind kind, int rank, const int *dims)
{
	struct var *v = &g->vars[g->n];
	*v = (struct var){.kind = kind, .rank = rank};
	for (int k = 0; k < rank; k++)
		v->dims[k] = dims[k];
	return g->n++;
}

static void shape(struct grower *g, const struct var *v)
{
	buf_putc(&g->out, '[');
	for (int k = 0; k < v->rank; k++)
		buf_printf(&g->out, k ? ", %d" : "%d", v->dims[k]);
	buf_putc(&g->out, ']');
}

static void create(struct grower *g)
{
	static const char *const makers[KINDS][3] = {{"randn(", "rand(", "ones("},
						     {"int32(rand(", "int8(randn(", "int64(ones("},
						     {"random_ternary(", "ternary_weights(", "random_ternary("},
						     {"0.0 < randn(", "0.5 < rand(", "0.0 < zeros("}};
	int dims[3], rank = pick(g, 4);
	for (int k = 0; k < rank; k++)
		dims[k] = 1 + pick(g, 4);
	enum kind kind = (enum kind)pick(g, KINDS);
	const char *maker = makers[kind][pick(g, 3)];
	int v = declare(g, kind, rank, dims);
	line(g);
	buf_printf(&g->out, "let v%d = %s", v, maker);
	shape(g, &g->vars[v]);
	bool seeded = strstr(maker, "rand") || strstr(maker, "tern");
	if (seeded)
		buf_printf(&g->out, ", seed=%d", pick(g, 9));
	buf_puts(&g->out, kind == INT ? ") * 7)" : ")");
}

/* The same shape again: what may be said of any tensor. */
static void elementwise(struct grower *g)
{
	static const char *const forms[] = {"relu(v%d)",
					    "-v%d",
					    "abs(v%d)",
					    "v%d + v%d",
					    "v%d * v%d",
					    "v%d - 1",
					    "v%d * 2",
					    "where(v%d > 0, v%d, 0)",
					    "clip(v%d, -1, 1)",
					    "v%d // 2",
					    "maximum(v%d, 0)",
					    "minimum(v%d, v%d)",
					    "v%d ** 2",
					    "v%d %% 3",
					    "float32(v%d)",
					    "int8(v%d)",
					    "float64(v%d)",
					    "softmax(float32(v%d))",
					    "sigmoid(float32(v%d))",
					    "round(float32(v%d) * 3.0)",
					    "sign(v%d)",
					    "bfloat16(v%d)",
					    "float16(v%d)",
					    "ternary_quantize(float32(v%d))",
					    "int64(v%d)",
					    "!(v%d > 0)",
					    "gelu(float32(v%d))",
					    "rms_norm(float32(v%d))",
					    "log_softmax(float32(v%d), 0)",
					    "v%d / 2"};
	int from = any(g);
	struct var is = g->vars[from];
	int form = pick(g, (int)(sizeof forms / sizeof *forms));
	int v = declare(g, is.kind, is.rank, is.dims);
	line(g);
	buf_printf(&g->out, "let v%d = ", v);
	for (const char *s = forms[form]; *s; s++) {
		if (*s != '%')
			buf_putc(&g->out, *s);
		else if (*++s == '%')
			buf_putc(&g->out, '%');
		else
			buf_printf(&g->out, "%d", from);
	}
}

/* Operations that change the shape; what is known of the result afterwards may be wrong: then the program does not check. */
static void reshape(struct grower *g)
{
	static const char *const forms[] = {
		"sum(v%d, dim=%d)", "v%d.mean(%d)",          "v%d.max(%d)[0]",       "argmin(v%d, dim=%d)",   "v%d.unsqueeze(%d)",
		"v%d.squeeze(%d)",  "v%d.select(%d, 0)",     "v%d.slice(%d, 0, 1)",  "concat([v%d], dim=%d)", "softmax(float32(v%d), %d)",
		"v%d.flatten(%d)",  "v%d.all(%d)",           "stack([v%d], dim=%d)", "v%d.split(1, %d)[0]",   "v%d.prod(%d)",
		"v%d.std(%d)",      "v%d.transpose(%d, -1)", "v%d.moveaxis(%d, 0)",  "v%d.chunk(2, %d)[0]",   "v%d.any(%d, keepdim=true)"};
	static const char *const whole[] = {"v%d.sum()",
					    "v%d.reshape(-1)",
					    "v%d.max()",
					    "v%d[0]",
					    "v%d[-1]",
					    "v%d[..., 0]",
					    "v%d[0:1]",
					    "v%d[::2]",
					    "v%d @ v%d.transpose(-2, -1)",
					    "pad(v%d, [1, 1])",
					    "v%d.permute(1, 0)",
					    "outer(v%d, v%d)",
					    "dot(v%d, v%d)",
					    "pack(v%d)",
					    "einsum(\"i->\", v%d)",
					    "v%d.repeat(2, 2)",
					    "v%d[1:3, 0]",
					    "v%d[[0, 0]]",
					    "embedding(int64(v%d > 0), v%d)",
					    "v%d.numel()"};
	int from = any(g), axis = pick(g, 5) - 2;
	struct var is = g->vars[from];
	bool plain = pick(g, 2);
	const char *s = plain ? whole[pick(g, 20)] : forms[pick(g, 20)];
	if (is.rank > 0)
		is.rank--;
	int v = declare(g, is.kind, is.rank, is.dims);
	line(g);
	buf_printf(&g->out, "let v%d = ", v);
	for (int seen = 0; *s; s++) {
		if (*s != '%') {
			buf_putc(&g->out, *s);
			continue;
		}
		buf_printf(&g->out, "%d", plain || !seen++ ? from : axis);
		s++;
	}
}

static void statements(struct grower *g, int n, int depth);

static void body(struct grower *g, const char *head, int assigned, int depth)
{
	int n = g->n;
	buf_puts(&g->out, head);
	g->indent++;
	statements(g, 1 + pick(g, 2), depth - 1);
	line(g);
	buf_printf(&g->out, pick(g, 2) ? "v%d = v%d * 2" : "v%d = v%d + v%d", assigned, assigned, assigned);
	g->indent--;
	line(g);
	buf_puts(&g->out, "}");
	g->n = n;
}

/* Control flow, of which conditions and trip counts are known at run time, or not. */
static void flow(struct grower *g, int depth)
{
	int assigned = any(g), cond = any(g);
	line(g);
	switch (pick(g, 5)) {
	case 0:
		buf_printf(&g->out, "if v%d.sum() > %d ", cond, pick(g, 3));
		body(g, "{", assigned, depth);
		break;
	case 1:
		buf_printf(&g->out, "if v%d.sum() > 0 ", cond);
		body(g, "{", assigned, depth);
		body(g, " else {", assigned, depth);
		break;
	case 2:
		buf_printf(&g->out, "for i in 0..%d ", pick(g, 4));
		body(g, "{", assigned, depth);
		break;
	case 3:
		buf_printf(&g->out, "for i in 0..minimum(int32(v%d.sum()), 4) ", cond);
		body(g, "{", assigned, depth);
		break;
	default:
		buf_printf(&g->out, "let n%d = tensor(0)", g->n);
		line(g);
		buf_printf(&g->out, "while n%d < %d && v%d.sum() < 100 {", g->n, pick(g, 5), cond);
		g->indent++;
		line(g);
		buf_printf(&g->out, "n%d += 1", g->n);
		line(g);
		buf_printf(&g->out, pick(g, 2) ? "if v%d.sum() > 3 { break }" : "if v%d.sum() > 3 { continue }", cond);
		body(g, "", assigned, depth);
		g->indent--;
		break;
	}
}

static void statements(struct grower *g, int n, int depth)
{
	for (int i = 0; i < n && g->at < g->end; i++) {
		int k = pick(g, 12);
		if (g->n >= 38)
			return;
		if (k < 4)
			elementwise(g);
		else if (k < 7)
			reshape(g);
		else if (k < 9 && depth)
			flow(g, depth);
		else if (k < 11)
			create(g);
		else {
			int v = any(g);
			line(g);
			buf_printf(&g->out, pick(g, 2) ? "print(v%d.shape, int64(v%d).sum())" : "assert v%d.size >= 0 || v%d.all(), \"m\"",
				   v, v);
		}
	}
}

static void program(struct grower *g)
{
	int calls = pick(g, 3);
	buf_puts(&g->out, calls ? "fn f(v0, v1) {" : "main {");
	g->indent = 1;
	if (calls) {
		declare(g, FLOAT, 2, (int[]){2, 3});
		declare(g, FLOAT, 1, (int[]){3});
	} else {
		create(g);
		create(g);
	}
	while (g->at < g->end && g->n < 36)
		statements(g, 1, 2);
	int last = g->n - 1;
	line(g);
	buf_printf(&g->out, calls ? "return v%d" : "print(v%d)", last);
	buf_puts(&g->out, "\n}\n");
	for (int i = 0; i < calls; i++)
		buf_printf(
			&g->out,
			i ? ""
			  : "main {\n    print(f(randn([2, 3], seed=1), randn([3], seed=2)))\n    let t = f(ones([2, 3]), zeros([3]))\n    print(int64(t).sum(), t.shape)\n}\n");
}

/* ---- running them ---- */

struct text {
	const char *at;
	size_t len;
};

struct input {
	struct sources *sources;
	struct text text;
};

static const struct source *load(void *ctx, const char *path)
{
	struct input *in = ctx;
	return strcmp(path, "main.tri") ? NULL : sources_add(in->sources, path, in->text.at, in->text.len);
}

static void keep(void *ctx, const char *text, size_t n)
{
	struct buf *out = ctx;
	for (size_t i = 0; i < n && out->len < 1 << 20; i++)
		buf_putc(out, text[i]);
}

/* What the block prints, and the error that ended it, if one did. */
static void interpret(struct arena *a, struct core_program *p, struct diags *d, int opt, struct buf *out)
{
	struct interp_sink sink = {keep, out};
	struct interp_error error = {.text = NULL};
	struct tensor none[1];
	struct ir_fn *f = lower_unit(a, p->entries[0].unit, d);
	struct buf why = {0};
	struct pass_context c = {.opt = (uint8_t)opt, .verify = true, .diags = d};
	if (!f)
		return;
	if (!ir_verify(f, &why)) {
		fprintf(stderr, "%.*s\n", (int)why.len, why.at);
		abort();
	}
	if (opt && !passes_run(f, &c))
		return;
	if (!interp_program(f, NULL, NULL, NULL, &sink, a, none, &error))
		buf_printf(out, "error: %s\n", error.text);
}

/* Without numbers that have a point: sums of floats may be taken in another order. */
static void blank_floats(struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (b->at[i] == '.') {
			size_t from = i, to = i;
			while (from && strchr("0123456789-+e", b->at[from - 1]))
				from--;
			while (to + 1 < b->len && strchr("0123456789-+e", b->at[to + 1]))
				to++;
			memset(b->at + from, ' ', to - from + 1);
		}
}

static void run(struct frontend *f, struct diags *d, struct text program)
{
	struct elab_request request = {.main = "main.tri", .at = SPAN_NONE};
	struct core_program *p = frontend_elaborate(f, &request);
	struct buf plain = {0}, optimised = {0};
	if (!p)
		return;
	struct arena *a = arena_new(1 << 16);
	interpret(a, p, d, 0, &plain);
	interpret(a, p, d, 2, &optimised);
	blank_floats(&plain);
	blank_floats(&optimised);
	if (plain.len == optimised.len && plain.len && memcmp(plain.at, optimised.at, plain.len)) {
		fprintf(stderr, "%.*s\n---- plain\n%.*s---- optimised\n%.*s", (int)program.len, program.at, (int)plain.len, plain.at,
			(int)optimised.len, optimised.at);
		abort();
	}
	buf_free(&plain);
	buf_free(&optimised);
	arena_free(a);
}

/* ---- repair: a statement that an error is about gives way to one that is right, so that most inputs end as programs that run ---- */

static void overwrite(char *line, size_t n, const char *with)
{
	size_t len = strlen(with);
	if (n >= len) {
		memset(line, ' ', n);
		memcpy(line, with, len);
	}
}

static bool repair(const struct sources *s, const struct diags *d, char *text, size_t len)
{
	bool changed = false;
	for (uint32_t i = 0; i < diags_count(d); i++) {
		span at = diags_at(d, i)->primary.at;
		if (at.source == SPAN_NO_SOURCE || strcmp(sources_get(s, at.source)->path, "main.tri") || at.start >= len)
			continue;
		size_t from = at.start, to = at.start;
		while (from && text[from - 1] != '\n')
			from--;
		while (to < len && text[to] != '\n')
			to++;
		char *line = text + from, value[24] = "";
		int number;
		if (sscanf(line, " let v%d", &number) == 1)
			snprintf(value, sizeof value, "let v%d = ones([2])", number);
		if (memchr(line, '{', to - from))
			overwrite(line, to - from, strstr(line, "while") == line + strspn(line, " ") ? "while false {" : "if true {");
		else
			overwrite(line, to - from, value);
		changed = true;
	}
	return changed;
}

static bool attempt(struct text program, bool *again)
{
	struct sources *s = sources_new();
	struct input in = {s, program};
	struct diags *d = diags_new(50);
	struct frontend *f = frontend_new(s, (struct frontend_host){load, &in}, d);
	bool ok = frontend_add_file(f, "main.tri") && frontend_check(f);
	if (ok)
		run(f, d, program);
	*again = !ok && repair(s, d, (char *)(uintptr_t)program.at, program.len);
	frontend_free(f);
	diags_free(d);
	sources_free(s);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grower g = {.at = data, .end = data + size};
	program(&g);
	bool again = true, ok = false;
	for (int i = 0; i < 8 && again; i++)
		ok = attempt((struct text){g.out.at, g.out.len}, &again);
	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, "%.*s%s\n", (int)g.out.len, g.out.at, ok ? "runs" : "does not check");
	buf_free(&g.out);
	return 0;
}
