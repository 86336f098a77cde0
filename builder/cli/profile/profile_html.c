/* trib profile html: one page from profiles, and from reports that other actions print as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/profile/page_report.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/json_read.h"
#include "builder/profile/page/page.h"

#define DEFAULT_PAGE "profile.html"

struct page_input {
	struct arena *a;
	struct page_data data;
	struct page_profile *profiles;
	const char **gates;
};

static void add_report(struct page_input *in, enum page_report_kind kind, const char *json)
{
	if (kind == PAGE_REPORT_GATE)
		in->gates[in->data.n_gates++] = json;
	else if (kind == PAGE_REPORT_SUGGESTIONS)
		in->data.suggestions = json;
	else
		in->data.graph = json;
}

static bool profile_html_read_input(struct page_input *in, const char *path)
{
	struct buf error = {0};
	char *text = NULL;
	const char *json = NULL;
	size_t len = 0;
	struct profile *p = profile_read(path, &error);
	enum page_report_kind kind = PAGE_REPORT_NONE;
	if (p)
		in->profiles[in->data.n_profiles++] = (struct page_profile){path_base(path), p};
	else if (os_read_stream(path, JSON_MOST_BYTES, &text, &len))
		kind = page_report_read(in->a, text, len, &json);
	if (kind == PAGE_REPORT_DAMAGED)
		fail_environment("`%s` is damaged, or from another version of trib: write it again", path);
	else if (kind != PAGE_REPORT_NONE)
		add_report(in, kind, json);
	else if (!p)
		fail_environment("%s", error.at);
	free(text);
	buf_free(&error);
	return p || (kind != PAGE_REPORT_NONE && kind != PAGE_REPORT_DAMAGED);
}

static const char *profile_html_title_of(const struct page_input *in)
{
	const struct profile *p = in->profiles[0].profile;
	const char *models = profile_setting(p, "models");
	return arena_printf(in->a, "%s %s", p->kind == PROFILE_BUILD ? "Build of" : "Runs of", models ? models : in->profiles[0].name);
}

static enum status write_page(const struct page_input *in, const char *path)
{
	const char *error = NULL;
	struct buf page = {0};
	enum status s = page_print(in->a, &in->data, &page, &error) ? print_to(path, &page) : fail_environment("%s", error);
	if (s == STATUS_OK && strcmp(path, "-") != 0)
		print(stdout, "trib: the page is in %s\n", path);
	buf_free(&page);
	return s;
}

enum status profile_html(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct page_input in = {.a = a,
				.profiles = ARENA_ARRAY(a, struct page_profile, o->n_operands),
				.gates = ARENA_ARRAY(a, const char *, o->n_operands)};
	enum status s = STATUS_OK;
	for (uint32_t i = 0; i < o->n_operands && s == STATUS_OK; i++)
		s = profile_html_read_input(&in, o->operands[i]) ? STATUS_OK : STATUS_ENVIRONMENT;
	if (s == STATUS_OK && !in.data.n_profiles)
		s = fail_usage("a page wants at least one profile, made by `trib profile record` or `--profile-out`");
	in.data.profiles = in.profiles;
	in.data.gates = in.gates;
	if (s == STATUS_OK) {
		in.data.title = profile_html_title_of(&in);
		s = write_page(&in, o->out ? o->out : DEFAULT_PAGE);
	}
	for (uint32_t i = 0; i < in.data.n_profiles; i++)
		profile_free((struct profile *)in.profiles[i].profile);
	arena_free(a);
	return s;
}
