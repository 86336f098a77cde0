#include "builder/watch/tell.h"
#include <string.h>
#include <time.h>
#include "base/buf.h"
#include "base/json.h"

enum { MOST_EDITS = 2 };

static struct json_writer open_event(struct buf *line, const char *event)
{
	struct json_writer w = {.out = line};
	json_open(&w, '{');
	json_key(&w, "type"), json_str(&w, "watch");
	json_key(&w, "event"), json_str(&w, event);
	return w;
}

static void put_line(FILE *out, struct buf *line)
{
	fprintf(out, "%s\n", line->at);
	fflush(out);
	buf_free(line);
}

static void close_event(const struct tell *t, struct json_writer *w)
{
	json_close(w, '}');
	put_line(t->out, w->out);
}

static void put_int(struct json_writer *w, const char *key, int64_t v)
{
	json_key(w, key);
	json_int(w, v);
}

static void put_text(struct json_writer *w, const char *key, const char *s)
{
	json_key(w, key);
	if (s)
		json_str(w, s);
	else
		json_none(w);
}

void tell_watching(const struct tell *t, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms)
{
	struct buf line = {0};
	if (t->quiet && !t->json)
		return;
	if (t->json) {
		struct json_writer w = open_event(&line, "watching");
		put_text(&w, "by", poll_ms ? "polling" : "inotify");
		put_text(&w, "why_polling", why_polling);
		put_int(&w, "files", files);
		put_int(&w, "folders", folders);
		close_event(t, &w);
		return;
	}
	buf_printf(&line, "trib: watching %u file%s in %u folder%s", files, files == 1 ? "" : "s", folders, folders == 1 ? "" : "s");
	if (poll_ms)
		buf_printf(&line, " by looking every %d ms", poll_ms);
	if (why_polling)
		buf_printf(&line, ": %s", why_polling);
	put_line(t->out, &line);
}

static void put_cause(const struct save *s, struct buf *out)
{
	uint32_t shown = s->n_edits <= MOST_EDITS ? s->n_edits : 1;
	for (uint32_t i = 0; i < shown; i++) {
		buf_puts(out, i ? ", " : "");
		edit_print(&s->edits[i], out);
	}
	if (s->n_edits > shown)
		buf_printf(out, " and %u more files", s->n_edits - shown);
}

static void put_result(const struct save *s, struct buf *out)
{
	if (s->status != STATUS_OK && s->errors)
		buf_printf(out, "%u error%s", s->errors, s->errors == 1 ? "" : "s");
	else if (s->status != STATUS_OK)
		buf_puts(out, "failed");
	else if (s->compiled)
		buf_printf(out, s->compiled == 1 ? "%u unit" : "%u units", s->compiled);
	else
		buf_puts(out, s->linked ? "linked" : "nothing to do");
}

/* Of the library if there is one. */
static void put_stale(const struct save *s, struct buf *out)
{
	char clock[16];
	struct tm local;
	time_t at = (time_t)s->good_at;
	if (!s->n_outputs) {
		buf_puts(out, "; nothing is built yet");
		return;
	}
	strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&at, &local));
	buf_printf(out, "; %s is stale: of %s, %u save%s ago", s->outputs[0], clock, s->behind, s->behind == 1 ? "" : "s");
}

static void put_ms(struct buf *out, int64_t ns)
{
	double ms = (double)ns / 1e6;
	buf_printf(out, ms < 0.95 ? "%.1f ms" : "%.0f ms", ms);
}

static void put_edit(struct json_writer *w, const struct edit *e)
{
	json_open(w, '{');
	put_text(w, "file", e->file);
	json_key(w, "line");
	if (e->line)
		json_int(w, e->line);
	else
		json_none(w);
	put_text(w, "name", e->name);
	put_int(w, "more", e->more);
	put_text(w, "before", e->before);
	put_text(w, "after", e->before ? e->after : NULL);
	put_text(w, "what", e->what);
	json_close(w, '}');
}

static void tell_save_json(const struct tell *t, const struct save *s, const char *text)
{
	struct buf line = {0};
	struct json_writer w = open_event(&line, "save");
	json_key(&w, "ok"), json_bool(&w, s->status == STATUS_OK);
	json_key(&w, "changes"), json_open(&w, '[');
	for (uint32_t i = 0; i < s->n_edits; i++)
		put_edit(&w, &s->edits[i]);
	json_close(&w, ']');
	put_text(&w, "text", text);
	put_int(&w, "units", s->compiled);
	put_int(&w, "errors", s->errors);
	json_key(&w, "latency_ms"), json_num(&w, (double)s->latency_ns / 1e6);
	json_key(&w, "build_ms"), json_num(&w, (double)s->build_ns / 1e6);
	put_int(&w, "generation", (int64_t)s->generation);
	json_key(&w, "stale"), json_bool(&w, s->behind > 0);
	put_int(&w, "saves_behind", s->behind);
	json_key(&w, "outputs"), json_open(&w, '[');
	for (uint32_t i = 0; i < s->n_outputs; i++)
		json_str(&w, s->outputs[i]);
	json_close(&w, ']');
	close_event(t, &w);
}

void tell_save(const struct tell *t, const struct save *s)
{
	struct buf line = {0};
	if (t->quiet && !t->json && s->status == STATUS_OK && !s->behind)
		return;
	put_cause(s, &line);
	buf_puts(&line, ": ");
	put_result(s, &line);
	buf_puts(&line, ", ");
	put_ms(&line, s->latency_ns);
	if (s->behind)
		put_stale(s, &line);
	if (t->json) {
		tell_save_json(t, s, line.at);
		buf_free(&line);
		return;
	}
	put_line(s->behind ? t->err : t->out, &line);
}

static void tell_plain(const struct tell *t, const char *event)
{
	struct buf line = {0};
	if (!t->json)
		return;
	struct json_writer w = open_event(&line, event);
	close_event(t, &w);
}

void tell_superseded(const struct tell *t) { tell_plain(t, "superseded"); }

void tell_rescan(const struct tell *t) { tell_plain(t, "rescan"); }

void tell_end(const struct tell *t)
{
	tell_plain(t, "end");
	if (!t->json)
		fprintf(t->err, "trib: interrupted\n");
}

void tell_command(const struct tell *t, const char *name, const struct command_report *r, int64_t pid)
{
	static const char *const states[] = {"", "started", "failed", "exited", "signalled"};
	struct buf line = {0};
	if (t->json) {
		struct json_writer w = open_event(&line, "command");
		put_text(&w, "command", name);
		put_text(&w, "state", states[r->news]);
		put_int(&w, r->news == COMMAND_STARTED ? "pid" : "value", r->news == COMMAND_STARTED ? pid : r->value);
		json_key(&w, "asked"), json_bool(&w, r->asked);
		close_event(t, &w);
	} else if (r->news == COMMAND_FAILED_TO_START) {
		fprintf(t->err, "trib: cannot start `%s`: %s\n", name, strerror(r->value));
	} else if (!r->asked && r->news == COMMAND_EXITED && r->value) {
		fprintf(t->err, "trib: `%s` ended with %d\n", name, r->value);
	} else if (!r->asked && r->news == COMMAND_SIGNALLED) {
		fprintf(t->err, "trib: `%s` was ended by signal %d (%s)\n", name, r->value, strsignal(r->value));
	}
}
