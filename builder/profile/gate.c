#include "builder/profile/gate.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/figures.h"

#define NOTED 1.05 /* slower by more is said, though it is allowed */

/* ---- budgets ---- */

static bool read_subject(struct arena *a, struct budget *b, const char *subject)
{
	const char *colon = strchr(subject, ':');
	if (!colon)
		return strcmp(subject, "total") == 0 || strcmp(subject, "peak") == 0;
	b->pattern = arena_strdup(a, colon + 1);
	for (b->kind = 0; b->kind < ITEM_KINDS; b->kind++)
		if (strcmp(arena_strndup(a, subject, (size_t)(colon - subject)), profile_item_kinds[b->kind]) == 0)
			return b->has_kind = true;
	return false;
}

static bool read_budget(struct arena *a, const char *text, struct budget *b, struct buf *error)
{
	const char *equals = strrchr(text, '=');
	enum metric_unit unit = UNIT_COUNT;
	*b = (struct budget){.text = text};
	if (!equals || !read_subject(a, b, arena_strndup(a, text, (size_t)(equals - text))) ||
	    !figure_parse(equals + 1, &unit, &b->limit) || unit == UNIT_COUNT) {
		buf_printf(error, "`%s` is not a budget; write total=1s, peak=500MB, unit:NAME=50ms or phase:codegen=2s (`*` is any text)",
			   text);
		return false;
	}
	b->metric = unit == UNIT_NS ? METRIC_WALL : METRIC_PEAK;
	if ((strncmp(text, "total=", 6) == 0 && unit != UNIT_NS) || (strncmp(text, "peak=", 5) == 0 && unit != UNIT_BYTES)) {
		buf_printf(error, "`%s`: total takes a time such as 1s, peak takes a size such as 500MB", text);
		return false;
	}
	return true;
}

bool gate_read_budgets(struct arena *a, const char *text, struct budget **out, uint32_t *n, struct buf *error)
{
	uint32_t most = 1;
	for (const char *c = text; *c; c++)
		most += *c == ',';
	*out = ARENA_ARRAY(a, struct budget, most);
	*n = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		if (len && !read_budget(a, arena_strndup(a, text, len), &(*out)[(*n)++], error))
			return false;
		text += len + (text[len] == ',');
	}
	return true;
}

/* ---- the decision ---- */

static void add_finding(struct gate_result *r, struct gate_finding f)
{
	vec_push(&r->findings, f);
	r->verdict = f.verdict > r->verdict ? f.verdict : r->verdict;
}

/* Where the item is, and whether another kernel does its work. */
static void gate_put_place(const struct comparison *c, const struct compared *row, struct buf *out)
{
	const struct profile_item *now = &c->after->items.at[row->after];
	const char *before = row->before != PROFILE_NONE ? c->before->items.at[row->before].kernel : NULL;
	if (now->at)
		buf_printf(out, "at %s", now->at);
	if (now->kernel)
		buf_printf(out, "%s%s", out->len ? ", " : "", now->kernel);
	if (now->kernel && before && strcmp(before, now->kernel) != 0)
		buf_printf(out, " in place of %s", before);
}

/* Units that only the current build compiled, and those whose note differs, explain a longer build. */
static const char *cause_of(const struct comparison *c, const struct compared *row)
{
	const struct profile *q = c->after;
	struct buf text = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_rows; i++) {
		const struct compared *r = &c->rows[i];
		if (r->kind != ITEM_UNIT || r->change != CHANGE_NEW || r->metric != METRIC_WALL)
			continue;
		const struct profile_item *item = &q->items.at[r->after];
		if (n++ < 3)
			buf_printf(&text, "%s%s%s%s", n > 1 ? "; " : "newly compiled: ", compare_name(c, r), item->note ? ", " : "",
				   item->note ? item->note : "");
	}
	if (n > 3)
		buf_printf(&text, "; and %u more units", n - 3);
	if (!n && row->after != PROFILE_NONE)
		gate_put_place(c, row, &text);
	if (!n && strcmp(c->before->build, c->after->build) != 0)
		buf_printf(&text, "%sanother trib", text.len ? ", " : "");
	const char *cause = text.len ? arena_strdup(c->arena, text.at) : NULL;
	buf_free(&text);
	return cause;
}

/* Without a test only the whole process can fail, and only far beyond the threshold. */
static bool is_far(const struct compared *row, double threshold) { return compare_is_whole(row) && row->ratio.estimate > 1.5 * threshold; }

/* An item that a test finds slower, by more than the threshold, fails. If only its interval reaches beyond the threshold, nothing is decided. A smaller
 * slow-down is allowed, and said. */
static void check_row(struct gate_result *r, const struct compared *row)
{
	double threshold = r->options.threshold;
	bool is_time = row->decides, is_memory = row->metric == METRIC_PEAK;
	if ((!is_time && !is_memory) || row->change == CHANGE_NEW || row->change == CHANGE_REMOVED)
		return;
	bool is_worse = row->change == CHANGE_REGRESSION;
	double low = row->is_tested ? row->ratio.low : row->ratio.estimate, high = row->is_tested ? row->ratio.high : row->ratio.estimate;
	struct gate_finding f = {.row = row, .verdict = GATE_PASSED};
	bool is_sure = row->is_tested ? is_worse : is_far(row, threshold);
	if (is_sure && low > threshold)
		f.verdict = GATE_FAILED;
	else if (is_worse && high > threshold && row->ratio.estimate > threshold)
		f.verdict = GATE_UNDECIDED;
	else if (compare_is_whole(row) && row->is_tested && row->ratio.estimate > threshold)
		f.verdict = GATE_UNDECIDED;
	if (f.verdict == GATE_PASSED && !(is_worse && row->is_tested && row->ratio.estimate > NOTED))
		return;
	f.item = compare_name(r->comparison, row);
	f.cause = cause_of(r->comparison, row);
	add_finding(r, f);
}

static void check_budget(struct gate_result *r, const struct budget *b)
{
	const struct profile *p = r->comparison->after;
	struct arena *a = r->comparison->arena;
	double whole = profile_median(p, &p->total, b->metric);
	if (!b->has_kind && whole > b->limit)
		add_finding(r, (struct gate_finding){.verdict = GATE_FAILED, .budget = b, .item = "whole process", .value = whole});
	for (uint32_t i = 0; b->has_kind && i < p->items.len; i++) {
		double value = profile_median(p, &p->items.at[i].values, b->metric);
		const char *path = p->items.at[i].kind == b->kind && value > b->limit ? profile_item_path(a, p, i) : NULL;
		if (path && fnmatch(b->pattern, path, 0) == 0)
			add_finding(r, (struct gate_finding){.verdict = GATE_FAILED, .budget = b, .item = path, .value = value});
	}
}

static int by_verdict(const void *a, const void *b)
{
	const struct gate_finding *x = a, *y = b;
	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

void gate_check(const struct comparison *c, const struct gate_options *o, struct gate_result *out)
{
	*out = (struct gate_result){.options = *o, .comparison = c};
	for (uint32_t i = 0; i < c->n_rows; i++)
		check_row(out, &c->rows[i]);
	for (uint32_t i = 0; i < o->n_budgets; i++)
		check_budget(out, &o->budgets[i]);
	if (out->findings.len)
		qsort(out->findings.at, out->findings.len, sizeof *out->findings.at, by_verdict);
}

void gate_free(struct gate_result *r) { vec_free(&r->findings); }
