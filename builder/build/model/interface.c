/* Reports what the entries of a model take, once: when it differs from what an earlier build reported. */
#include "builder/build/model/interface.h"
#include <string.h>
#include "backend/interp/interp.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/print.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/profile/figures.h"
#include "builder/store/serializer.h"
#include "frontend/hir/hir.h"

enum { MOST_SHOWN = 6 };

/* ---- making ---- */

/* "float32[1, cap T, 64]". `grows`: the dimension with the capacity; HIR_NONE: none. */
static const char *interface_type_text(struct arena *a, const struct hir_type *t, const struct dims *dims, uint32_t grows,
				       const char *capacity)
{
	struct buf b = {0};
	buf_puts(&b, dtype_text(t->elem));
	for (uint32_t k = 0; k < t->rank; k++) {
		buf_puts(&b, k ? ", " : "[");
		if (k == grows)
			buf_printf(&b, "cap %s", capacity);
		else
			dim_print_apart(dims, t->dims[k], &b);
	}
	const char *text = arena_printf(a, "%s%s", b.at, t->rank ? "]" : "");
	buf_free(&b);
	return text;
}

static void interface_add_parameter(struct interface_entry *entry, const struct hir_param *p)
{
	struct tensor t = {.elem = p->type.elem, .rank = p->type.rank};
	for (uint32_t k = 0; k < t.rank; k++)
		t.dims[k] = dim_eval(p->dims, p->type.dims[k], NULL);
	entry->tensors++;
	entry->elements += (uint64_t)tensor_count(&t);
	entry->bytes += (uint64_t)tensor_bytes(&t);
}

static void interface_add_states(struct arena *a, const struct hir_program *p, const struct hir_entry *from, struct interface_entry *entry)
{
	entry->states = ARENA_ARRAY(a, struct interface_value, from->n_states_in + 1);
	for (uint32_t i = 0; i < from->n_states_in; i++) {
		const struct hir_state *s = &p->states[from->states_in[i]];
		const char *capacity = s->axis == HIR_NONE ? NULL : p->capacities[s->capacity].name;
		entry->states[entry->n_states++] =
			(struct interface_value){s->name, interface_type_text(a, &s->type, s->dims, s->axis, capacity)};
	}
}

static void interface_add_inputs(struct arena *a, const struct hir_program *p, const struct hir_entry *from, struct interface_entry *entry)
{
	const struct hir_unit *u = from->unit;
	uint32_t n_given = 0;
	entry->inputs = ARENA_ARRAY(a, struct interface_value, u->n_inputs + 1);
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		const struct hir_input *in = &u->inputs[i];
		if (from->params[i] != HIR_NONE)
			interface_add_parameter(entry, &p->params[from->params[i]]);
		else
			entry->inputs[n_given++] =
				(struct interface_value){in->name, interface_type_text(a, &in->type, u->dims, HIR_NONE, NULL)};
	}
	entry->n_inputs = n_given - from->n_states_in; /* the states are the last */
}

struct interface_record interface_of(struct arena *a, const struct hir_program *p)
{
	struct interface_record r = {ARENA_ARRAY(a, struct interface_entry, p->n_entries + 1), p->n_entries};
	for (uint32_t i = 0; i < p->n_entries; i++) {
		struct interface_entry *e = &r.entries[i];
		e->name = p->entries[i].name;
		interface_add_inputs(a, p, &p->entries[i], e);
		interface_add_states(a, p, &p->entries[i], e);
	}
	return r;
}

/* ---- comparing ---- */

void interface_note(struct arena *arena, struct store *store, const struct build_request *request, struct model_job *m,
		    const struct interface_record *now)
{
	struct model_interface *i = &m->interface;
	if (request->options->quiet || request->options->unread || (request->single && m->link.is_current))
		return;
	i->now = *now;
	i->has_changed = interface_replace(arena, store, m->spec->name, &i->now, &i->before);
}

void interfaces_note(const struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models && !diags_errors(c->diags); i++) {
		struct interface_record now = interface_of(c->arena, p->models[i].program);
		interface_note(c->arena, c->stores.project, &c->request, &p->models[i], &now);
	}
}

/* ---- printing ---- */

static void interface_put_values(struct buf *out, const char *what, const struct interface_value *values, uint32_t n, bool all)
{
	buf_printf(out, "%s%s%s%s", n ? "" : "no ", what, n == 1 ? "" : "s", n ? " " : "");
	for (uint32_t i = 0; i < n && (all || i < MOST_SHOWN); i++)
		buf_printf(out, "%s%s: %s", i ? ", " : "", values[i].name, values[i].type);
	if (!all && n > MOST_SHOWN)
		buf_printf(out, " and %u more", n - MOST_SHOWN);
}

static void interface_put_entry(struct buf *out, const struct interface_entry *entry, bool all)
{
	char count[FIGURE_SIZE], bytes[FIGURE_SIZE];
	interface_put_values(out, "input", entry->inputs, entry->n_inputs, all);
	if (entry->tensors)
		buf_printf(out, "; %s parameters in %u tensor%s, %s; ", figure_text(UNIT_COUNT, (double)entry->elements, count),
			   entry->tensors, entry->tensors == 1 ? "" : "s", figure_text(UNIT_BYTES, (double)entry->bytes, bytes));
	else
		buf_puts(out, "; no parameters; ");
	interface_put_values(out, "state", entry->states, entry->n_states, all);
	buf_putc(out, '\n');
}

static const struct interface_entry *interface_find_entry(const struct interface_record *record, const char *name)
{
	for (uint32_t i = 0; i < record->n_entries; i++)
		if (strcmp(record->entries[i].name, name) == 0)
			return &record->entries[i];
	return NULL;
}

static bool same_values(const struct interface_value *a, const struct interface_value *b, uint32_t n)
{
	bool same = true;
	for (uint32_t i = 0; i < n && same; i++)
		same = strcmp(a[i].name, b[i].name) == 0 && strcmp(a[i].type, b[i].type) == 0;
	return same;
}

static bool same_entry(const struct interface_entry *a, const struct interface_entry *b)
{
	return a->n_inputs == b->n_inputs && a->n_states == b->n_states && a->tensors == b->tensors && a->elements == b->elements &&
	       a->bytes == b->bytes && same_values(a->inputs, b->inputs, a->n_inputs) && same_values(a->states, b->states, a->n_states);
}

static void interface_put_text(struct buf *out, const struct model_job *m, const struct interface_entry *entry,
			       const struct interface_entry *before, bool all)
{
	bool one = m->interface.now.n_entries == 1;
	buf_printf(out, "%s%s%s: ", m->spec->name, one ? "" : ".", one ? "" : entry->name);
	interface_put_entry(out, entry, all);
	if (before) {
		buf_puts(out, "  before: ");
		interface_put_entry(out, before, all);
	}
}

static void put_values_json(struct json_writer *w, const char *name, const struct interface_value *values, uint32_t n)
{
	json_member_open(w, name, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(w, '{');
		json_member_str(w, "name", values[i].name);
		json_member_str(w, "type", values[i].type);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void interface_put_json(struct buf *out, const struct model_job *m, const struct interface_entry *entry)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "interface");
	json_member_str(&w, "model", m->spec->name);
	json_member_str(&w, "entry", entry->name);
	put_values_json(&w, "inputs", entry->inputs, entry->n_inputs);
	json_member_open(&w, "parameters", '{');
	json_member_int(&w, "tensors", entry->tensors);
	json_member_int(&w, "elements", (int64_t)entry->elements);
	json_member_int(&w, "bytes", (int64_t)entry->bytes);
	json_close(&w, '}');
	put_values_json(&w, "states", entry->states, entry->n_states);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void interfaces_print(const struct build_request *request, const struct project *p)
{
	struct buf out = {0};
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		const struct model_interface *in = &m->interface;
		for (uint32_t k = 0; in->has_changed && k < in->now.n_entries; k++) {
			const struct interface_entry *e = &in->now.entries[k], *before = interface_find_entry(&in->before, e->name);
			if (before && same_entry(before, e))
				continue;
			if (request->options->json > 0)
				interface_put_json(&out, m, e);
			else
				interface_put_text(&out, m, e, before, p->spec.verbose);
		}
	}
	print_text(request->out, &out);
	buf_free(&out);
}
