/* A valid program also runs: elaborating, lowering, optimising and interpreting its main block must not crash, and the passes must not
 * change the printed integers. An input that begins with `#` is the program itself. Any other is a list of choices that generate one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/lower/lower.h"
#include "backend/passes/passes.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "tests/fuzz/fuzz.h"

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

/* The initial values of the parameters of layers that the block makes. */
static bool init_params(struct arena *a, const struct hir_program *p, struct diags *d, struct tensor *weights)
{
	const struct hir_entry *e = &p->entries[0];
	for (uint32_t i = 0; i < e->unit->n_inputs; i++) {
		const char *why;
		struct ir_fn *f = lower_unit(a, p->params[e->params[i]].init, d);
		if (!f || !interp_run(f, NULL, NULL, NULL, i, a, &weights[i], &why))
			return false;
	}
	return true;
}

/* What the block prints, and the error that ended it, if one did. */
static void interpret(struct arena *a, struct hir_program *p, struct diags *d, int opt, struct buf *out)
{
	struct interp_sink sink = {keep, out};
	struct interp_error error = {.text = NULL};
	struct tensor none[1], *weights = ARENA_ARRAY(a, struct tensor, p->entries[0].unit->n_inputs + 1);
	struct ir_fn *f = lower_unit(a, p->entries[0].unit, d);
	struct buf why = {0};
	struct pass_context c = pass_context_new(
		&(struct plan_options){.target = target_get(TARGET_X86_64_V3), .opt = (uint8_t)opt, .verify = true}, d, NULL);
	if (!f || !init_params(a, p, d, weights))
		return;
	if (!ir_verify(f, &why)) {
		fprintf(stderr, "%.*s\n", (int)why.len, why.at);
		abort();
	}
	if (opt && !passes_run(f, &c, ALL_PASSES))
		return;
	if (!interp_program(f, NULL, weights, NULL, &sink, a, none, &error))
		buf_printf(out, "error: %s\n", error.text);
}

/* Blanks numbers with a decimal point: sums of floats may have another order. */
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
	struct hir_program *p = frontend_elaborate(f, &request);
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

static const char *head(const char *text)
{
	return *text == '}' ? "} else if true {" : !strncmp(text, "while", 5) ? "while false {" : "if true {";
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
		if (to > from && text[to - 1] == '{')
			overwrite(line, to - from, head(line + strspn(line, " ")));
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
	struct buf text = {0};
	bool again = true, ok = false;
	if (size && *data == '#')
		buf_put(&text, (const char *)data, size);
	else
		grow_program(data, size, &text);
	for (int i = 0; i < 8 && again; i++)
		ok = attempt((struct text){text.at, text.len}, &again);
	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, "%.*s%s\n", (int)text.len, text.at, ok ? "runs" : "does not check");
	buf_free(&text);
	return 0;
}
