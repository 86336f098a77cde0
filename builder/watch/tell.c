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
	json_member_str(&w, "type", "watch");
	json_member_str(&w, "event", event);
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

void tell_watching(const struct tell *t, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms)
{
	struct buf line = {0};
	if (t->quiet && !t->json)
		return;
	if (t->json) {
		struct json_writer w = open_event(&line, "watching");
		json_member_str(&w, "by", poll_ms ? "polling" : "inotify");
		json_member_str(&w, "why_polling", why_polling);
		json_member_int(&w, "files", files);
		json_member_int(&w, "folders", folders);
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
	json_member_str(w, "file", e->file);
	json_key(w, "line");
	if (e->line)
		json_int(w, e->line);
	else
		json_none(w);
	json_member_str(w, "name", e->name);
	json_member_int(w, "more", e->more);
	json_member_str(w, "before", e->before);
	json_member_str(w, "after", e->before ? e->after : NULL);
	json_member_str(w, "what", e->what);
	json_close(w, '}');
}

static void tell_save_json(const struct tell *t, const struct save *s, const char *text)
{
	struct buf line = {0};
	struct json_writer w = open_event(&line, "save");
	json_member_bool(&w, "ok", s->status == STATUS_OK);
	json_member_open(&w, "changes", '[');
	for (uint32_t i = 0; i < s->n_edits; i++)
		put_edit(&w, &s->edits[i]);
	json_close(&w, ']');
	json_member_str(&w, "text", text);
	json_member_int(&w, "units", s->compiled);
	json_member_int(&w, "errors", s->errors);
	json_member_num(&w, "latency_ms", (double)s->latency_ns / 1e6);
	json_member_num(&w, "build_ms", (double)s->build_ns / 1e6);
	json_member_int(&w, "generation", (int64_t)s->generation);
	json_member_bool(&w, "stale", s->behind > 0);
	json_member_int(&w, "saves_behind", s->behind);
	json_member_open(&w, "outputs", '[');
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
		json_member_str(&w, "command", name);
		json_member_str(&w, "state", states[r->news]);
		json_member_int(&w, r->news == COMMAND_STARTED ? "pid" : "value", r->news == COMMAND_STARTED ? pid : r->value);
		json_member_bool(&w, "asked", r->asked);
		close_event(t, &w);
	} else if (r->news == COMMAND_FAILED_TO_START) {
		fprintf(t->err, "trib: cannot start `%s`: %s\n", name, strerror(r->value));
	} else if (!r->asked && r->news == COMMAND_EXITED && r->value) {
		fprintf(t->err, "trib: `%s` ended with %d\n", name, r->value);
	} else if (!r->asked && r->news == COMMAND_SIGNALLED) {
		fprintf(t->err, "trib: `%s` was ended by signal %d (%s)\n", name, r->value, strsignal(r->value));
	}
}
