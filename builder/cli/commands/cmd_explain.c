#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/commands/explain.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/store/costs.h"
#include "builder/store/history.h"
#include "builder/store/store.h"

static const struct explanation pages[DIAG_COUNT] = {
#define EXPLAIN(id, language, text, wrong, right) [DIAG_##id] = {text, wrong, right, EXPLAIN_##language},
#include "builder/cli/commands/explain.def"
#undef EXPLAIN
};

const struct explanation *explain_find(enum diag_code code) { return code < DIAG_COUNT && pages[code].text ? &pages[code] : NULL; }

static void print_example(const char *title, const char *text)
{
	print(stdout, "\n%s\n\n", title);
	for (const char *s = text; *s;) {
		int n = (int)strcspn(s, "\n");
		print(stdout, "    %.*s\n", n, s);
		s += n + (s[n] == '\n');
	}
}

/* Prints a text in lines of at most 80 columns. */
static void print_wrapped(const char *s)
{
	size_t column = 0;
	for (; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");
		if (column && column + 1 + n > 80) {
			print(stdout, "\n");
			column = 0;
		}
		print(stdout, "%s%.*s", column ? " " : "", (int)n, s);
		column += n + (column > 0);
		s += n;
	}
	print(stdout, "\n");
}

static enum status explain_code(enum diag_code code)
{
	const struct explanation *e = explain_find(code);
	print(stdout, "%s: %s\n\n", diag_code_text(code), diag_title(code));
	if (!e)
		return STATUS_OK;
	print_wrapped(e->text);
	print_example("Wrong:", e->wrong);
	print_example("Right:", e->right);
	return STATUS_OK;
}

static bool explain_print_unit(struct store *store, const struct unit_record *record, const char *model)
{
	static const char *const levels[] = {"0", "1", "2", "3", "s"};
	char key[33];
	hash_hex(record->key, key);
	print(stdout, "unit %s of model %s\n", record->name, model);
	print(stdout, "    defined in   %s (%s)\n", record->file, record->definition);
	print(stdout, "    compiled for %s at opt %s\n", record->cpu, levels[record->made.opt <= 4 ? record->made.opt : 4]);
	print(stdout, "    fragment     %s\n", key);
	uint64_t ns = cost_find(store, cost_key_unit(record->name, record->target, record->made.opt), (struct cost){0, 0}).ns;
	if (ns)
		print(stdout, "    compile time %.1f ms\n", (double)ns / 1e6);
	for (uint32_t i = 0; i < record->made.n_parts; i++)
		if (*record->made.parts[i].name)
			print(stdout, "    inlines      %s\n", record->made.parts[i].name);
	return true;
}

/* Prints the units of the last build with that name or definition. */
static enum status explain_unit(const struct options *o, const char *word)
{
	struct arena *a = arena_new(0);
	struct build_spec spec;
	struct options all = *o;
	struct buf warning = {0};
	bool found = false;
	all.n_operands = 0;
	struct store *s = store_open(".trib/store", false, &warning);
	if (s && project_read(a, &all, &spec) == STATUS_OK) {
		for (uint32_t i = 0; i < spec.n_models; i++) {
			struct history *h = history_load(a, s, spec.models[i].name);
			for (uint32_t k = 0; k < h->n; k++)
				if (strcmp(h->units[k].definition, word) == 0 || strcmp(h->units[k].name, word) == 0)
					found = explain_print_unit(s, &h->units[k], spec.models[i].name);
			history_free(h);
		}
	}
	store_close(s, &warning);
	buf_free(&warning);
	arena_free(a);
	if (found)
		return STATUS_OK;
	return fail_usage("`%s` is neither the code of a diagnostic, such as E0301, nor a unit of the last build", word);
}

static enum status list_codes(void)
{
	for (uint32_t i = 0; i < DIAG_COUNT; i++)
		print(stdout, "%s  %s\n", diag_code_text((enum diag_code)i), diag_title((enum diag_code)i));
	return STATUS_OK;
}

enum status cmd_explain(const struct options *o)
{
	if (o->list && !o->n_operands)
		return list_codes();
	if (o->n_operands != 1 || o->list)
		return fail_usage("`trib explain` needs one code, such as E0301, or one unit, or only --list");
	enum diag_code code = diag_code_find(o->operands[0]);
	return code < DIAG_COUNT ? explain_code(code) : explain_unit(o, o->operands[0]);
}
