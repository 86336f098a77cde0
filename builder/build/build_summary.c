#include "builder/build/build_summary.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/build/timing.h"

static void count(struct json_writer *w, const char *key, int64_t v)
{
	json_key(w, key);
	json_int(w, v);
}

void build_summary_print(const struct build_summary *r, const struct timing *t, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_key(&w, "type"), json_str(&w, r->type);
	json_key(&w, "ok"), json_bool(&w, r->ok);
	json_key(&w, "wall_ms"), json_num(&w, (double)r->wall_ns / 1e6);
	json_key(&w, "phases_ms"), json_open(&w, '{');
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		json_key(&w, phase_text((enum phase)i)), json_num(&w, t ? (double)timing_wall(t, (enum phase)i) / 1e6 : 0);
	json_close(&w, '}');
	json_key(&w, "units"), json_open(&w, '{');
	count(&w, "total", r->total);
	count(&w, "compiled", r->compiled);
	count(&w, "reused", r->reused);
	count(&w, "failed", r->failed);
	count(&w, "later", r->later);
	json_close(&w, '}');
	json_key(&w, "cache"), json_open(&w, '{');
	count(&w, "hits", r->hits);
	count(&w, "misses", r->misses);
	json_close(&w, '}');
	json_key(&w, "weights"), json_open(&w, '{');
	count(&w, "packed", r->packed);
	count(&w, "reused", r->kept);
	json_close(&w, '}');
	count(&w, "peak_rss_kb", (int64_t)os_peak_rss_kb());
	count(&w, "jobs", r->jobs);
	json_key(&w, "outputs"), json_open(&w, '[');
	for (uint32_t i = 0; i < r->n_outputs; i++)
		json_str(&w, r->outputs[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}
