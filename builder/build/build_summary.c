#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/build/result.h"
#include "builder/build/timing.h"

void build_summary_print(const struct build_summary *s, const struct timing *t, struct buf *out)
{
	const struct build_result *r = s->result;
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", s->type);
	json_member_bool(&w, "ok", s->ok);
	json_member_num(&w, "wall_ms", (double)s->wall_ns / 1e6);
	json_member_open(&w, "phases_ms", '{');
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		json_member_num(&w, phase_text((enum phase)i), t ? (double)timing_wall(t, (enum phase)i) / 1e6 : 0);
	json_close(&w, '}');
	json_member_open(&w, "units", '{');
	json_member_int(&w, "total", r->units);
	json_member_int(&w, "compiled", r->compiled);
	json_member_int(&w, "reused", r->reused);
	json_member_int(&w, "failed", r->failed);
	json_member_int(&w, "later", r->later);
	json_close(&w, '}');
	json_member_open(&w, "cache", '{');
	json_member_int(&w, "hits", r->hits);
	json_member_int(&w, "misses", r->misses);
	json_close(&w, '}');
	json_member_open(&w, "weights", '{');
	json_member_int(&w, "packed", r->packed);
	json_member_int(&w, "reused", r->packed_before);
	json_close(&w, '}');
	json_member_int(&w, "peak_rss_kb", (int64_t)os_peak_rss_kb());
	json_member_int(&w, "jobs", s->jobs);
	json_member_open(&w, "outputs", '[');
	for (uint32_t i = 0; i < r->outputs.len; i++)
		json_str(&w, r->outputs.at[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}
