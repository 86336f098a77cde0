#include "builder/profile/page/page.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "base/json.h"
#include "builder/module.h"
#include "builder/profile/compare.h"
#include "builder/profile/profile.h"
#include "builder/profile/report.h"
#include "builder/profile/suggest.h"

/* Begins a member whose value is printed by others. */
static struct buf *open_value(struct json_writer *w, const char *key)
{
	json_key(w, key);
	w->need_comma = true;
	return w->out;
}

static void page_put_profile(struct json_writer *w, const struct page_profile *p)
{
	const struct report_options o = {.format = REPORT_JSON, .top = UINT32_MAX};
	struct suggestions *list = suggest(p->profile);
	json_open(w, '{');
	json_member_str(w, "name", p->name);
	profile_print(p->profile, open_value(w, "profile"));
	json_key(w, "symptoms");
	report_symptoms(p->profile, w);
	report_suggestions(list, false, &o, open_value(w, "suggestions"));
	json_close(w, '}');
	suggestions_free(list);
}

/* The comparison of profile i with the first one. */
static void put_comparison(struct json_writer *w, const struct page_data *d, uint32_t i)
{
	const struct page_profile *before = &d->profiles[0], *after = &d->profiles[i];
	const struct report_options o = {.format = REPORT_JSON, .top = UINT32_MAX};
	struct buf differences = {0};
	compare_conditions(before->profile, after->profile, FOREIGN_LINE, &differences);
	struct comparison *c = compare_profiles(before->profile, after->profile, (struct compare_options)COMPARE_DEFAULTS);
	json_open(w, '{');
	json_member_int(w, "before", 0);
	json_member_int(w, "after", i);
	json_member_str(w, "conditions", differences.at);
	report_comparison(c, before->name, after->name, &o, open_value(w, "report"));
	json_close(w, '}');
	compare_free(c);
	buf_free(&differences);
}

/* The names and units of all figures, and the words for changes: the scripts have none of their own. */
static void page_put_names(struct json_writer *w)
{
	json_member_open(w, "metrics", '{');
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		json_member_open(w, profile_metrics[m].name, '{');
		json_member_str(w, "title", profile_metrics[m].title);
		json_member_str(w, "unit", metric_units[profile_metrics[m].unit]);
		json_close(w, '}');
	}
	json_close(w, '}');
	json_member_open(w, "changes", '{');
	for (uint32_t i = 0; i < CHANGES; i++) {
		json_member_open(w, change_table[i].name, '[');
		json_str(w, change_table[i].word);
		json_str(w, change_table[i].style);
		json_close(w, ']');
	}
	json_close(w, '}');
}

static void put_data(const struct page_data *d, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "title", d->title);
	page_put_names(&w);
	if (d->live)
		json_member_str(&w, "live", d->live);
	json_member_open(&w, "profiles", '[');
	for (uint32_t i = 0; i < d->n_profiles; i++)
		page_put_profile(&w, &d->profiles[i]);
	json_close(&w, ']');
	json_member_open(&w, "comparisons", '[');
	for (uint32_t i = 1; i < d->n_profiles; i++)
		if (d->profiles[i].profile->kind == d->profiles[0].profile->kind)
			put_comparison(&w, d, i);
	json_close(&w, ']');
	json_member_open(&w, "gates", '[');
	for (uint32_t i = 0; i < d->n_gates; i++)
		buf_printf(out, "%s%s", i ? "," : "", d->gates[i]);
	json_close(&w, ']');
	if (d->suggestions)
		buf_puts(open_value(&w, "suggestions"), d->suggestions);
	if (d->graph)
		buf_puts(open_value(&w, "graph"), d->graph);
	json_close(&w, '}');
}

bool page_print(struct arena *a, const struct page_data *d, struct buf *out, const char **error)
{
	const struct page_assets *assets = module_open(a, "page", PAGE_ENTRY, PAGE_ABI, error);
	struct buf json = {0};
	if (!assets)
		return false;
	put_data(d, &json);
	buf_puts(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:");
	buf_puts(out, d->live ? "; connect-src 'self'\">\n" : "\">\n");
	buf_puts(out, "<link rel=\"icon\" href=\"data:,\">\n<title>");
	foreign_puts(out, FOREIGN_HTML, d->title);
	buf_puts(out, "</title>\n<style>\n");
	buf_put(out, assets->style.begin, (size_t)(assets->style.end - assets->style.begin));
	buf_puts(out, "</style>\n<body>\n<noscript>This page needs JavaScript.</noscript>\n<script type=\"application/json\" id=\"data\">");
	foreign_put(out, FOREIGN_SCRIPT, json.at, json.len);
	buf_puts(out, "</script>\n");
	for (uint32_t i = 0; i < assets->n_scripts; i++) {
		buf_puts(out, "<script>\n");
		buf_put(out, assets->scripts[i].begin, (size_t)(assets->scripts[i].end - assets->scripts[i].begin));
		buf_puts(out, "\n</script>\n");
	}
	buf_puts(out, "</body>\n</html>\n");
	buf_free(&json);
	return true;
}
