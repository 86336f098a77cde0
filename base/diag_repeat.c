/* Finds errors of one file with one cause. A habit of another language is reported in full once; any other error twice. */
#include "base/diag.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"

static bool is_habit(const struct diag *g) { return g->cause || g->code == DIAG_HABIT_SYNTAX; }

/* The key that an error shares with errors of the same cause. False: it is always reported in full. */
static bool cause_key(const struct diag *g, struct buf *scratch, hash128 *key)
{
	if (diag_severity_of(g->code) != SEV_ERROR || g->primary.at.source == SPAN_NO_SOURCE)
		return false;
	buf_clear(scratch);
	buf_printf(scratch, "%u %u %s", g->code, g->primary.at.source, g->cause ? g->cause : g->message);
	*key = map_key_bytes(scratch->at, scratch->len);
	return true;
}

struct diag_repeat *diags_repeats(const struct diags *d)
{
	uint32_t n = diags_count(d);
	struct diag_repeat *all = malloc((n + 1) * sizeof *all);
	struct map last = {0}; /* for each cause the last error so far; plus n while it is the only one */
	struct buf scratch = {0};
	hash128 key;
	uint64_t before;

	if (!all)
		bug_no_memory();
	for (uint32_t i = 0; i < n; i++) {
		all[i] = (struct diag_repeat){UINT32_MAX, false};
		if (!cause_key(diags_at(d, i), &scratch, &key))
			continue;
		bool again = map_get(&last, key, &before), second = again && before >= n;
		all[i].repeats = again && !second;
		if (all[i].repeats)
			all[before].next = i;
		map_put(&last, key, again || is_habit(diags_at(d, i)) ? i : i + (uint64_t)n);
	}
	map_free(&last);
	buf_free(&scratch);
	return all;
}
