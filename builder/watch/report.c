#include "builder/watch/watch_state.h"
#include <string.h>
#include <time.h>
#include "base/buf.h"
#include "base/json.h"
#include "base/print.h"

enum { MAX_EDITS = 2 };

static struct json_writer report_open_event(struct buf *line, const char *event)
{
	struct json_writer w = {.out = line};
	json_open(&w, '{');
	json_member_str(&w, "type", "watch");
	json_member_str(&w, "event", event);
	return w;
}

static void report_put_line(FILE *out, struct buf *line)
{
	print(out, "%s\n", line->at);
	fflush(out);
	buf_free(line);
}

static void close_event(const struct reporter *r, struct json_writer *w)
{
	json_close(w, '}');
	report_put_line(r->out, w->out);
}

void report_watching(const struct reporter *r, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms)
{
	struct buf line = {0};
	if (r->quiet && !r->json)
		return;
	if (r->json) {
		struct json_writer w = report_open_event(&line, "watching");
		json_member_str(&w, "by", poll_ms ? "polling" : "inotify");
		json_member_str(&w, "why_polling", why_polling);
		json_member_int(&w, "files", files);
		json_member_int(&w, "folders", folders);
		close_event(r, &w);
		return;
	}
	buf_printf(&line, "trib: watching %u file%s in %u folder%s", files, files == 1 ? "" : "s", folders, folders == 1 ? "" : "s");
	if (poll_ms)
		buf_printf(&line, " by polling every %d ms", poll_ms);
	if (why_polling)
		buf_printf(&line, ": %s", why_polling);
	report_put_line(r->out, &line);
}

static void report_put_edits(const struct save_report *report, struct buf *out)
{
	uint32_t shown = report->n_edits <= MAX_EDITS ? report->n_edits : 1;
	for (uint32_t i = 0; i < shown; i++) {
		buf_puts(out, i ? ", " : "");
		edit_print(&report->edits[i], out);
	}
	if (report->n_edits > shown)
		buf_printf(out, " and %u more files", report->n_edits - shown);
}

static void put_result(const struct save_report *report, struct buf *out)
{
	if (report->status != STATUS_OK && report->errors)
		buf_printf(out, "%u error%s", report->errors, report->errors == 1 ? "" : "s");
	else if (report->status != STATUS_OK)
		buf_puts(out, "failed");
	else if (report->compiled)
		buf_printf(out, report->compiled == 1 ? "%u unit" : "%u units", report->compiled);
	else
		buf_puts(out, report->linked ? "linked" : "nothing to do");
}

/* Says how old the outputs are. */
static void put_stale(const struct save_report *report, struct buf *out)
{
	char clock[16];
	struct tm local;
	time_t at = (time_t)report->good_at;
	if (!report->n_outputs) {
		buf_puts(out, "; there is no good build yet");
		return;
	}
	strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&at, &local));
	buf_printf(out, "; %s is stale: built at %s, %u save%s ago", report->outputs[0], clock, report->behind,
		   report->behind == 1 ? "" : "s");
}

static void put_ms(struct buf *out, int64_t ns)
{
	double ms = (double)ns / 1e6;
	buf_printf(out, ms < 0.95 ? "%.1f ms" : "%.0f ms", ms);
}

static void report_put_edit(struct json_writer *w, const struct edit *edit)
{
	json_open(w, '{');
	json_member_str(w, "file", edit->file);
	json_key(w, "line");
	if (edit->line)
		json_int(w, edit->line);
	else
		json_none(w);
	json_member_str(w, "name", edit->name);
	json_member_int(w, "more", edit->more);
	json_member_str(w, "before", edit->before);
	json_member_str(w, "after", edit->before ? edit->after : NULL);
	json_member_str(w, "what", edit->what);
	json_close(w, '}');
}

static void put_save_json(const struct reporter *r, const struct save_report *report, const char *text)
{
	struct buf line = {0};
	struct json_writer w = report_open_event(&line, "save");
	json_member_bool(&w, "ok", report->status == STATUS_OK);
	json_member_open(&w, "changes", '[');
	for (uint32_t i = 0; i < report->n_edits; i++)
		report_put_edit(&w, &report->edits[i]);
	json_close(&w, ']');
	json_member_str(&w, "text", text);
	json_member_int(&w, "units", report->compiled);
	json_member_int(&w, "errors", report->errors);
	json_member_num(&w, "latency_ms", (double)report->latency_ns / 1e6);
	json_member_num(&w, "build_ms", (double)report->build_ns / 1e6);
	json_member_int(&w, "generation", (int64_t)report->generation);
	json_member_bool(&w, "stale", report->behind > 0);
	json_member_int(&w, "saves_behind", report->behind);
	json_member_open(&w, "outputs", '[');
	for (uint32_t i = 0; i < report->n_outputs; i++)
		json_str(&w, report->outputs[i]);
	json_close(&w, ']');
	close_event(r, &w);
}

void report_save(const struct reporter *r, const struct save_report *report)
{
	struct buf line = {0};
	if (r->quiet && !r->json && report->status == STATUS_OK && !report->behind)
		return;
	report_put_edits(report, &line);
	buf_puts(&line, ": ");
	put_result(report, &line);
	buf_puts(&line, ", ");
	put_ms(&line, report->latency_ns);
	if (report->behind)
		put_stale(report, &line);
	if (r->json) {
		put_save_json(r, report, line.at);
		buf_free(&line);
		return;
	}
	report_put_line(report->behind ? r->err : r->out, &line);
}

static void report_event(const struct reporter *r, const char *event)
{
	struct buf line = {0};
	if (!r->json)
		return;
	struct json_writer w = report_open_event(&line, event);
	close_event(r, &w);
}

void report_superseded(const struct reporter *r) { report_event(r, "superseded"); }

void report_rescan(const struct reporter *r) { report_event(r, "rescan"); }

void report_end(const struct reporter *r)
{
	report_event(r, "end");
	if (!r->json)
		print(r->err, "trib: interrupted\n");
}

void report_command(const struct reporter *r, const char *name, const struct command_change *change, int64_t pid)
{
	static const char *const states[] = {"", "started", "failed", "exited", "signalled"};
	struct buf line = {0};
	if (r->json) {
		struct json_writer w = report_open_event(&line, "command");
		json_member_str(&w, "command", name);
		json_member_str(&w, "state", states[change->event]);
		json_member_int(&w, change->event == COMMAND_STARTED ? "pid" : "value",
				change->event == COMMAND_STARTED ? pid : change->value);
		json_member_bool(&w, "asked", change->requested);
		close_event(r, &w);
	} else if (change->event == COMMAND_FAILED_TO_START) {
		print(r->err, "trib: cannot start `%s`: %s\n", name, strerror(change->value));
	} else if (!change->requested && change->event == COMMAND_EXITED && change->value) {
		print(r->err, "trib: `%s` ended with %d\n", name, change->value);
	} else if (!change->requested && change->event == COMMAND_SIGNALLED) {
		print(r->err, "trib: `%s` was ended by signal %d (%s)\n", name, change->value, strsignal(change->value));
	}
}
