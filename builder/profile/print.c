/* Writes a profile as JSON, in the order of PROFILE.md. */
#include <math.h>
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/profile/profile.h"

/* With three digits. What they make a whole number is written as one, so that a file that is read and written stays the same. */
static void print_number(struct json_writer *w, double v)
{
	double written = round(v * 1000) / 1000;
	if (fabs(v) < 9e15 && written == floor(written))
		json_int(w, (int64_t)written);
	else
		json_num(w, v);
}

static void print_array(struct json_writer *w, const char *key, const double *v, uint32_t n)
{
	json_member_open(w, key, '[');
	for (uint32_t i = 0; i < n; i++)
		print_number(w, v[i]);
	json_close(w, ']');
}

static void print_values(struct json_writer *w, const struct profile *p, const struct profile_values *v)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		if (v->of[m])
			print_array(w, profile_metrics[m].name, v->of[m], p->n_samples);
}

static void print_head(struct json_writer *w, const struct profile *p)
{
	const struct profile_machine *m = &p->machine;
	json_member_str(w, "type", "profile");
	json_member_int(w, "version", PROFILE_VERSION);
	json_member_str(w, "kind", p->kind == PROFILE_RUN ? "run" : "build");
	json_member_open(w, "trib", '{');
	json_member_str(w, "version", p->version);
	json_member_str(w, "build", p->build);
	json_close(w, '}');
	json_member_open(w, "machine", '{');
	json_member_str(w, "id", m->id);
	json_member_str(w, "cpu", m->cpu);
	json_member_str(w, "system", m->system);
	json_member_str(w, "device", m->device);
	json_member_int(w, "cores", m->cores);
	json_member_int(w, "memory_bytes", (int64_t)m->memory_bytes);
	json_close(w, '}');
}

static void print_settings(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "settings", '{');
	for (uint32_t i = 0; i < p->settings.len; i++)
		json_member_str(w, p->settings.at[i].name, p->settings.at[i].text);
	json_close(w, '}');
	json_member_open(w, "facts", '{');
	for (uint32_t i = 0; i < p->facts.len; i++) {
		json_key(w, p->facts.at[i].name);
		print_number(w, p->facts.at[i].value);
	}
	json_close(w, '}');
}

static void print_items(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "items", '[');
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		json_open(w, '{');
		json_member_str(w, "kind", profile_item_kind_text(item->kind));
		json_member_str(w, "name", item->name);
		if (item->parent != PROFILE_NONE)
			json_member_int(w, "parent", item->parent);
		if (item->at)
			json_member_str(w, "at", item->at);
		if (item->note)
			json_member_str(w, "note", item->note);
		print_values(w, p, &item->values);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void print_spans(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "spans", '[');
	for (uint32_t i = 0; i < p->spans.len; i++) {
		const struct profile_span *s = &p->spans.at[i];
		json_open(w, '[');
		json_int(w, s->item);
		json_int(w, s->lane);
		json_int(w, s->start_ns);
		json_int(w, s->ns);
		json_int(w, s->is_critical);
		json_close(w, ']');
	}
	json_close(w, ']');
}

static const char *unit_text(enum metric_unit u) { return u == UNIT_NS ? "ns" : u == UNIT_BYTES ? "bytes" : "count"; }

static void print_counters(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "counters", '[');
	for (uint32_t i = 0; i < p->counters.len; i++) {
		const struct profile_counter *c = &p->counters.at[i];
		json_open(w, '{');
		json_member_str(w, "name", c->name);
		json_member_str(w, "unit", unit_text(c->unit));
		json_member_open(w, "points", '[');
		for (uint32_t k = 0; k < c->points.len; k++) {
			json_open(w, '[');
			json_int(w, c->points.at[k].at_ns);
			print_number(w, c->points.at[k].value);
			json_close(w, ']');
		}
		json_close(w, ']');
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void print_edges(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "edges", '[');
	for (uint32_t i = 0; i < p->edges.len; i++) {
		json_open(w, '[');
		json_int(w, p->edges.at[i].from);
		json_int(w, p->edges.at[i].to);
		json_close(w, ']');
	}
	json_close(w, ']');
}

static void print_weights(struct json_writer *w, const struct profile *p)
{
	json_member_open(w, "weights", '[');
	for (uint32_t i = 0; i < p->weights.len; i++) {
		const struct profile_weight *x = &p->weights.at[i];
		json_open(w, '{');
		json_member_str(w, "name", x->name);
		json_member_str(w, "layout", x->layout);
		json_member_str(w, "form", x->form);
		json_member_int(w, "elements", (int64_t)x->elements);
		json_member_int(w, "zeros", (int64_t)x->zeros);
		json_member_int(w, "bytes", (int64_t)x->bytes);
		json_close(w, '}');
	}
	json_close(w, ']');
}

void profile_print(const struct profile *p, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	print_head(&w, p);
	print_settings(&w, p);
	json_member_int(&w, "samples", p->n_samples);
	if (p->calibration_ns)
		print_array(&w, "core_ns", p->calibration_ns, p->n_samples);
	json_member_open(&w, "total", '{');
	print_values(&w, p, &p->total);
	json_close(&w, '}');
	print_items(&w, p);
	print_spans(&w, p);
	print_counters(&w, p);
	print_edges(&w, p);
	if (p->weights.len)
		print_weights(&w, p);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

bool profile_write(const struct profile *p, const char *path)
{
	struct buf b = {0};
	profile_print(p, &b);
	bool ok = os_write_atomic(path, b.at, b.len, 0666, false);
	buf_free(&b);
	return ok;
}
