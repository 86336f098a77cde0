/* Runs the passes of passes.def. */
#include "backend/passes/passes.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

enum { MAX_ROUNDS = 4 };

static const struct pass {
	const char *text;
	bool (*run)(struct ir_fn *f, struct pass_context *c);
	uint8_t level;
} passes[] = {
#define PASS(id, text, level) {text, pass_##id, level},
#include "backend/passes/passes.def"
#undef PASS
};
enum { PASS_COUNT = sizeof passes / sizeof passes[0] };

static bool run_one(const struct pass *p, struct ir_fn *f, struct pass_context *c)
{
	bool changed = p->run(f, c);
	if (c->verify && !c->failed)
		ir_verify_or_abort(f, p->text);
	if (changed && c->dump) {
		buf_printf(c->dump, "; after %s\n", p->text);
		ir_print(f, c->dump);
	}
	return changed;
}

bool passes_run(struct ir_fn *f, struct pass_context *c)
{
	uint8_t level = c->size ? 2 : c->opt;
	bool changed = true;
	if (c->verify)
		ir_verify_or_abort(f, "lower");
	for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
		changed = false;
		for (uint32_t k = 0; k < PASS_COUNT && !c->failed; k++)
			if (passes[k].level <= level)
				changed |= run_one(&passes[k], f, c);
	}
	return !c->failed;
}

bool pass_run_named(const char *name, struct ir_fn *f, struct pass_context *c)
{
	for (uint32_t k = 0; k < PASS_COUNT; k++) {
		if (strcmp(passes[k].text, name))
			continue;
		run_one(&passes[k], f, c);
		return true;
	}
	return false;
}
