/* Which documents are checked together, and what a changed file makes stale. */
#include "builder/lsp/editor_state.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "builder/lsp/analysis.h"

struct editor {
	const char *files[4][2]; /* paths and texts on the disk */
	uint32_t n_files, n_read;
	struct lsp_host host;
	struct editor_state state;
};

static const char *find_text(const struct editor *e, const char *path)
{
	for (uint32_t i = 0; i < e->n_files; i++)
		if (!strcmp(e->files[i][0], path))
			return e->files[i][1];
	return NULL;
}

static bool exists(void *editor, const char *path) { return find_text(editor, path); }

static bool read_text(void *editor, const char *path, char **text, size_t *len)
{
	struct editor *e = editor;
	if (!exists(e, path))
		return false;
	e->n_read++;
	*text = strdup(find_text(e, path));
	*len = strlen(*text);
	return true;
}

static void put_file(struct editor *e, const char *path, const char *text)
{
	e->files[e->n_files][0] = path;
	e->files[e->n_files++][1] = text;
}

static int setup(void **state)
{
	struct editor *e = calloc(1, sizeof *e);
	e->host = (struct lsp_host){.read = read_text, .exists = exists, .std_dir = "/std", .ctx = e};
	e->state.host = &e->host;
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct editor *e = *state;
	for (uint32_t i = 0; i < e->state.workspaces.len; i++)
		analysis_free(e->state.workspaces.at[i]->analysis);
	editor_state_free(&e->state);
	free(e);
	return 0;
}

/* The URI is the path: the state knows only that they are different things. */
static struct document *open_text(struct editor *e, const char *path, const char *text)
{
	document_open(&e->state, path, path, 1, text, strlen(text));
	return document_of_path(&e->state, path);
}

static void analyse(struct editor *e)
{
	struct buf outbox = {0};
	workspaces_refresh(&e->state, &outbox);
	buf_free(&outbox);
}

static void nearest_manifest_groups_documents(void **state)
{
	struct editor *e = *state;
	put_file(e, "/p/tri.build", "project p\n");
	put_file(e, "/p/sub/tri.build", "project sub\n");
	const struct workspace *p = open_text(e, "/p/src/a.tri", "")->workspace;
	assert_string_equal(p->root, "/p");
	assert_true(p->has_manifest);
	assert_ptr_equal(open_text(e, "/p/b.tri", "")->workspace, p);
	assert_string_equal(open_text(e, "/p/sub/src/c.tri", "")->workspace->root, "/p/sub");
}

static void without_a_manifest_the_folder_groups(void **state)
{
	struct editor *e = *state;
	const struct workspace *ws = open_text(e, "/q/a.tri", "")->workspace;
	assert_string_equal(ws->root, "/q");
	assert_false(ws->has_manifest);
	assert_ptr_not_equal(open_text(e, "/q/sub/b.tri", "")->workspace, ws);
	assert_string_equal(open_text(e, "untitled:1", "")->workspace->root, "");
	assert_true(open_text(e, "/std/nn.tri", "")->workspace->is_std);
}

static void unsaved_manifest_counts(void **state)
{
	struct editor *e = *state;
	const struct document *a = open_text(e, "/q/sub/a.tri", "");
	open_text(e, "/q/tri.build", "project q\n");
	editor_state_file_changed(&e->state, "/q/tri.build");
	assert_string_equal(a->workspace->root, "/q");
	document_close(&e->state, document_of_path(&e->state, "/q/tri.build"));
	editor_state_file_changed(&e->state, "/q/tri.build");
	assert_string_equal(a->workspace->root, "/q/sub");
}

static void splice_replaces_bytes(void **state)
{
	struct editor *e = *state;
	struct document *d = open_text(e, "/q/a.tri", "abcdef");
	document_splice(d, 2, 4, "XYZ", 3);
	assert_string_equal(d->text.at, "abXYZef");
	document_splice(d, 7, 7, "!", 1);
	document_splice(d, 0, 2, "", 0);
	assert_string_equal(d->text.at, "XYZef!");
}

static void only_files_that_were_looked_for_make_stale(void **state)
{
	struct editor *e = *state;
	put_file(e, "/lib/b.tri", "fn g(x: int) -> int {\n    return x\n}\n");
	const struct workspace *ws = open_text(e, "/q/a.tri", "import \"../lib/b.tri\" as b\nimport \"../lib/c.tri\" as c\n")->workspace;
	analyse(e);
	assert_false(ws->is_changed);
	editor_state_file_changed(&e->state, "/lib/other.tri");
	assert_false(ws->is_changed);
	editor_state_file_changed(&e->state, "/qq/a.tri"); /* not below /q */
	assert_false(ws->is_changed);
	editor_state_file_changed(&e->state, "/lib/c.tri"); /* it was missing */
	assert_true(ws->is_changed);
	analyse(e);
	editor_state_file_changed(&e->state, "/q/new.tri");
	assert_true(ws->is_changed);
}

static void open_text_hides_the_disk(void **state)
{
	struct editor *e = *state;
	put_file(e, "/q/b.tri", "fn g(x: int) -> int {\n    return x\n}\n");
	open_text(e, "/q/a.tri", "import \"b.tri\" as b\n");
	struct workspace *ws = open_text(e, "/q/b.tri", "# mine\n")->workspace;
	analyse(e);
	assert_int_equal(e->n_read, 0);
	assert_string_equal(analysis_source(ws->analysis, "/q/b.tri")->text, "# mine\n");
}

int test_editor_state(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nearest_manifest_groups_documents, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_manifest_the_folder_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(unsaved_manifest_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(splice_replaces_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(only_files_that_were_looked_for_make_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(open_text_hides_the_disk, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
