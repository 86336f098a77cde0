#include <math.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "base/json.h"
#include "builder/profile/reports.h"
#include "builder/profile/suggest.h"

static void put_saving(const struct suggestion *x, const struct report_options *o, struct buf *out)
{
	if (x->saving_kind == SAVING_ESTIMATED)
		report_printf(o, out, "saves about %.1f %% (estimated)", x->saving * 100);
	else if (x->saving_kind == SAVING_MEASURED && x->low > 0)
		report_printf(o, out, "saves %.1f %% (measured, between %.1f and %.1f %%)", x->saving * 100, x->low * 100, x->high * 100);
	else if (x->saving_kind == SAVING_MEASURED && x->high < 0)
		report_printf(o, out, "costs %.1f %% (measured, between %.1f and %.1f %%): do not do it", -x->saving * 100, -x->high * 100,
			      -x->low * 100);
	else if (x->saving_kind == SAVING_MEASURED)
		report_printf(o, out, "no difference (measured, between %+.1f and %+.1f %%)", -x->high * 100, -x->low * 100);
	else
		report_printf(o, out, "saving unknown%s", x->variant ? "; --try measures it" : "");
}

static void put_text(const struct suggestion *x, uint32_t number, const struct report_options *o, struct buf *out)
{
	bool markdown = o->format == REPORT_MARKDOWN;
	enum foreign_form code = markdown ? FOREIGN_CODE : FOREIGN_LINE;
	report_printf(o, out, markdown ? "%u. **%s** %s: " : "%u. %s %s: ", number, suggestion_priority_text(x->priority),
		      suggestion_type_text(x->type));
	foreign_puts(out, code, x->subject);
	if (x->at)
		report_printf(o, out, " (%s)", x->at);
	report_printf(o, out, "\n   %s\n   %s", x->evidence, x->action);
	if (x->edit)
		foreign_printf(out, code, ": %s", x->edit);
	buf_puts(out, "\n   ");
	put_saving(x, o, out);
	report_printf(o, out, "; effort %s\n", suggestion_effort_text(x->effort));
}

static void put_json(struct json_writer *w, const struct suggestion *x)
{
	json_open(w, '{');
	json_member_str(w, "rule", x->rule);
	json_member_str(w, "type", suggestion_type_text(x->type));
	json_member_str(w, "priority", suggestion_priority_text(x->priority));
	json_member_str(w, "effort", suggestion_effort_text(x->effort));
	json_member_str(w, "item", x->subject);
	json_member_str(w, "at", x->at);
	json_member_str(w, "evidence", x->evidence);
	json_member_str(w, "action", x->action);
	json_member_str(w, "edit", x->edit);
	json_member_str(w, "saving_kind", saving_kind_text(x->saving_kind));
	json_member_real(w, "saving", x->saving_kind == SAVING_UNKNOWN ? (double)NAN : x->saving);
	if (x->saving_kind == SAVING_MEASURED) {
		json_member_real(w, "low", x->low);
		json_member_real(w, "high", x->high);
	}
	json_close(w, '}');
}

void report_suggestions(const struct suggestions *s, bool only_critical, const struct report_options *o, struct buf *out)
{
	struct json_writer w = {.out = out};
	uint32_t n = 0;
	if (o->format == REPORT_JSON) {
		json_open(&w, '{');
		json_member_str(&w, "type", "suggestions");
		json_member_str(&w, "kind", s->profile->kind == PROFILE_RUN ? "run" : "build");
		json_member_open(&w, "suggestions", '[');
	}
	for (uint32_t i = 0; i < s->list.len && n < o->top; i++) {
		const struct suggestion *x = &s->list.at[i];
		if (only_critical && x->priority != PRIORITY_CRITICAL)
			continue;
		n++;
		if (o->format == REPORT_JSON)
			put_json(&w, x);
		else
			put_text(x, n, o, out);
	}
	if (o->format == REPORT_JSON) {
		json_close(&w, ']');
		json_close(&w, '}');
		buf_putc(out, '\n');
	} else if (!n) {
		report_printf(o, out, "no %ssuggestions: no rule found anything in this profile\n", only_critical ? "critical " : "");
	}
}
