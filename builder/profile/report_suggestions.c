#include <math.h>
#include "builder/profile/profile.h"
#include "builder/profile/report.h"
#include "builder/profile/suggest.h"

static void put_saving(struct report *r, const struct suggestion *x)
{
	if (x->saving_kind == SAVING_ESTIMATED)
		report_say(r, "saves about %.1f %% (estimated)", x->saving * 100);
	else if (x->saving_kind == SAVING_MEASURED && x->low > 0)
		report_say(r, "saves %.1f %% (measured, between %.1f and %.1f %%)", x->saving * 100, x->low * 100, x->high * 100);
	else if (x->saving_kind == SAVING_MEASURED && x->high < 0)
		report_say(r, "costs %.1f %% (measured, between %.1f and %.1f %%): do not do it", -x->saving * 100, -x->high * 100,
			   -x->low * 100);
	else if (x->saving_kind == SAVING_MEASURED)
		report_say(r, "no difference (measured, between %+.1f and %+.1f %%)", -x->high * 100, -x->low * 100);
	else
		report_say(r, "saving unknown%s", x->variant ? "; --try measures it" : "");
}

static void report_suggestions_put_text(struct report *r, const struct suggestion *x, uint32_t number)
{
	report_say(r, r->options.format == REPORT_MARKDOWN ? "%u. **%s** %s: " : "%u. %s %s: ", number, suggestion_priorities[x->priority],
		   suggestion_types[x->type]);
	report_code(r, x->subject);
	if (x->at)
		report_say(r, " (%s)", x->at);
	report_say(r, "\n   %s\n   %s", x->evidence, x->action);
	if (x->edit) {
		report_say(r, ": ");
		report_code(r, x->edit);
	}
	report_say(r, "\n   ");
	put_saving(r, x);
	report_say(r, "; effort %s\n", suggestion_efforts[x->effort]);
}

static void report_suggestions_add_row(struct table *table, const struct suggestion *x)
{
	bool is_measured = x->saving_kind == SAVING_MEASURED;
	TABLE_ROW(table, word(x->rule), word(suggestion_types[x->type]), word(suggestion_priorities[x->priority]),
		  word(suggestion_efforts[x->effort]), word(x->subject), word(x->at), word(x->evidence), word(x->action), word(x->edit),
		  word(saving_kinds[x->saving_kind]), figure(x->saving_kind == SAVING_UNKNOWN ? (double)NAN : x->saving),
		  figure_or(is_measured, x->low, ""), figure_or(is_measured, x->high, ""));
}

void report_suggestions(const struct suggestions *s, bool only_critical, const struct report_options *options, struct buf *out)
{
	COLUMNS(columns, ONLY_JSON("rule"), ONLY_JSON("type"), ONLY_JSON("priority"), ONLY_JSON("effort"), ONLY_JSON("item"),
		ONLY_JSON("at"), ONLY_JSON("evidence"), ONLY_JSON("action"), ONLY_JSON("edit"), ONLY_JSON("saving_kind"),
		ONLY_JSON("saving"), ONLY_JSON("low"), ONLY_JSON("high"));
	struct report r = report_open(options, out, "suggestions");
	struct table t = TABLE(&r, columns);
	uint32_t n = 0;
	report_member(&r, "kind", word(s->profile->kind == PROFILE_RUN ? "run" : "build"));
	for (uint32_t i = 0; i < s->list.len && n < options->top; i++) {
		const struct suggestion *x = &s->list.at[i];
		if (only_critical && x->priority != PRIORITY_CRITICAL)
			continue;
		n++;
		if (report_is_json(&r))
			report_suggestions_add_row(&t, x);
		else
			report_suggestions_put_text(&r, x, n);
	}
	table_print(&t, "suggestions", NULL);
	if (!n)
		report_say(&r, "no %ssuggestions: no rule found anything in this profile\n", only_critical ? "critical " : "");
	report_close(&r);
}
