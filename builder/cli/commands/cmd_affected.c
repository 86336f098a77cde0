#include <string.h>
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/query/affected.h"

static uint32_t print_definitions(const struct since *since)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < since->affected->n_defs; i++) {
		const struct affected_def *d = &since->affected->defs[i];
		if (!since_shows(since, i))
			continue;
		shown++;
		print(stdout, "%-8s  %s:%u  %s", d->change == DEF_SAME ? "moved" : def_change_text(d->change), d->def->file, d->def->line,
		      d->def->name);
		if (d->change == DEF_AFFECTED)
			print(stdout, "%s", since_path(since, i));
		if (d->moved)
			print(stdout, "  (was in %s)", d->old->file);
		print(stdout, "\n");
	}
	return shown;
}

static void print_models(const struct since *since, const struct options *o)
{
	uint32_t n = 0, total = 0;
	for (uint32_t i = 0; i < since->affected->n_models; i++) {
		const struct affected_model *m = &since->affected->models[i];
		if (!since_wants(o, m->name))
			continue;
		total++;
		n += m->n_why != 0;
		for (uint32_t k = 0; k < m->n_why; k++)
			print(stdout, "%s  %s  %s\n", k ? "        " : "model   ", m->name, since_reason(since, &m->why[k]));
	}
	for (uint32_t i = 0; i < since->affected->n_removed && !o->n_operands; i++)
		print(stdout, "model     %s  was removed\n", since->affected->removed[i]);
	print(stdout, "%u of %u models affected since %s\n", n, total, o->since);
}

enum status cmd_affected(const struct options *o)
{
	struct since s;
	bool json = o->format == PRINT_JSON;
	if (!o->since)
		return fail_usage(
			"`trib affected` wants --since REV, the revision to compare with, e.g. --since HEAD~1 or --since origin/main");
	enum status status = since_open(&s, o, stderr);
	if (status == STATUS_OK && json) {
		since_print_json(&s, o, stdout);
	} else if (status == STATUS_OK) {
		for (uint32_t i = 0; i < s.n_notes; i++)
			print(stdout, "note: %s\n", s.notes[i]);
		if (print_definitions(&s))
			print(stdout, "\n");
		print_models(&s, o);
	}
	since_close(&s);
	return status;
}
