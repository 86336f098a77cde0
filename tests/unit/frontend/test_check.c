/* Golden tests of the front end's later stages. tests/golden/check/NAME.tri with NAME.err: the diagnostics of loading, checking and,
 * with a first line `# elaborate ENTRY`, elaborating. tests/golden/elab/NAME.tri with NAME.core: the units and parameters of the entry.
 * The variable TRIB_BLESS rewrites the expected files. */
#include "tests/unit/unit.h"
#include <dirent.h>
#include "base/os.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "frontend/index/index.h"
#include "tests/unit/frontend/front_fixture.h"

#define GOLDEN TRIB_SOURCE_DIR "/tests/golden/"

struct golden {
	struct front front;
	char dir[600];
	struct index *index; /* NULL: run without */
};

static const struct source *load_file(void *ctx, const char *path)
{
	struct golden *g = ctx;
	char full[1200];
	char *data;
	size_t len;
	snprintf(full, sizeof full, "%s/%s", g->dir, path);
	if (!os_read_file(full, 0, &data, &len))
		return NULL;
	const struct source *s = sources_add(g->front.sources, path, data, len);
	free(data);
	return s;
}

static void print_program(const struct hir_program *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->n_units; i++)
		hir_print(p->units[i], out);
	for (uint32_t i = 0; i < p->n_params; i++)
		buf_printf(out, "param %s%s\n", p->params[i].name, p->params[i].init ? " with initializer" : "");
}

/* Lines of the standard library without their numbers, which change with every layer that is added. */
static void put_without_std_lines(struct buf *out, const char *text)
{
	bool inside = false;
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n'), *at = strstr(line, "::: std/");
		end = end ? end + 1 : line + strlen(line);
		bool names = at && at < end;
		inside = names || (inside && *line != '\n');
		if (names) {
			const char *colon = strchr(at + strlen("::: std/"), ':');
			buf_put(out, line, (size_t)(colon - line));
			buf_putc(out, '\n');
		} else {
			bool gutter = inside;
			for (const char *c = line; c < end; c++) {
				gutter = gutter && (*c == ' ' || (*c >= '0' && *c <= '9'));
				buf_putc(out, gutter ? ' ' : *c);
			}
		}
		line = end;
	}
}

/* The diagnostics as people see them. */
static void print_diags(struct front *t, struct buf *out)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	diags_sort(t->diags);
	diags_print(t->diags, t->sources, f, false);
	fclose(f);
	put_without_std_lines(out, text);
	free(text);
}

static void run(struct golden *g, const char *name, bool core, struct buf *out)
{
	struct front *t = &g->front;
	char entry[64] = "";
	*t = (struct front){.sources = sources_new(), .diags = diags_new(0)};
	t->f = frontend_new(t->sources, (struct frontend_host){load_file, g}, t->diags);
	if (g->index)
		frontend_set_index(t->f, g->index);
	bool ok = frontend_add_file(t->f, name);
	const struct source *s = sources_count(t->sources) ? sources_get(t->sources, 0) : NULL;
	if (s)
		sscanf(s->text, "# elaborate %63s", entry);
	ok = frontend_check(t->f) && ok;
	frontend_set_index(t->f, NULL);
	struct hir_program *p = *entry && ok ? front_elaborate(t, entry, NULL, 0) : NULL;
	if (core && p)
		print_program(p, out);
	print_diags(t, out);
	front_close(t);
}

static bool compare(const char *path, struct buf *got)
{
	char *want = NULL;
	size_t len = 0;
	const char *text = got->at ? got->at : "";
	if (getenv("TRIB_BLESS"))
		return os_write_if_changed(path, text, got->len, 0644, false);
	bool same = os_read_file(path, 0, &want, &len) && len == got->len && !memcmp(want, text, len);
	if (!same)
		fprintf(stderr, "---- %s differs; the result now:\n%s\n", path, text);
	free(want);
	return same;
}

static int sort_names(const void *a, const void *b) { return strcmp(a, b); }

static void golden(const char *folder, const char *ext)
{
	static char names[256][256];
	struct golden g = {.index = NULL};
	int n = 0, failed = 0;
	snprintf(g.dir, sizeof g.dir, "%s%s", GOLDEN, folder);
	DIR *d = opendir(g.dir);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) && n < 256;) {
		size_t len = strlen(e->d_name);
		if (len > 4 && len < 250 && !strcmp(e->d_name + len - 4, ".tri") && *e->d_name != '_')
			memcpy(names[n++], e->d_name, len + 1);
	}
	closedir(d);
	qsort(names, (size_t)n, sizeof *names, sort_names);
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		struct buf out = {0};
		char path[1200];
		run(&g, names[i], !strcmp(ext, "core"), &out);
		snprintf(path, sizeof path, "%s/%.*s.%s", g.dir, (int)strlen(names[i]) - 4, names[i], ext);
		failed += !compare(path, &out);
		buf_clear(&out); /* an index changes nothing */
		g.index = index_new();
		run(&g, names[i], !strcmp(ext, "core"), &out);
		failed += !compare(path, &out);
		index_free(g.index);
		g.index = NULL;
		buf_free(&out);
	}
	assert_int_equal(failed, 0);
}

static void check(void **state) { golden("check", "err"); }

static void elab(void **state) { golden("elab", "core"); }

/* The standard library itself passes the check that user files get. */
static void std_is_clean(void **state)
{
	static const char *const modules[] = {"nn", "quant", "init"};
	for (size_t k = 0; k < sizeof modules / sizeof *modules; k++) {
		uint32_t len;
		struct front_file file = {"copy.tri", frontend_std(modules[k], &len)};
		struct front t;
		struct buf codes = {0};
		front_open(&t, &file, 1);
		assert_true(frontend_add_file(t.f, "copy.tri"));
		frontend_check(t.f);
		assert_string_equal(front_codes(&t, &codes), "");
		buf_free(&codes);
		front_close(&t);
	}
}

int test_check(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(check), cmocka_unit_test(elab), cmocka_unit_test(std_is_clean)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
