/* trib fmt: formats files, folders, `-` for the standard input, or all sources of the project.
 * A file with syntax errors is left unchanged and fails the command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/line_diff.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "base/source.h"
#include "base/terminal.h"
#include "base/vec.h"
#include "builder/cli/command.h"
#include "builder/cli/project.h"
#include "builder/manifest/glob.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "frontend/format/format.h"

struct formatter {
	const struct options *o;
	struct arena *a;
	VEC(const char *) files;
	enum status status;
	const char *last_folder; /* that was written into */
};

static void raise_status(struct formatter *f, enum status s)
{
	if (s > f->status)
		f->status = s;
}

static void io_error(struct formatter *f, const char *what, const char *path)
{
	print(stderr, "trib: cannot %s `%s`: %s\n", what, path, strerror(errno));
	raise_status(f, STATUS_ENVIRONMENT);
}

static bool is_stdin(const char *path) { return strcmp(path, "-") == 0; }

/* A link out of the project is formatted only if it is named itself. */
static void fmt_add_pattern(struct formatter *f, const char *pattern)
{
	uint32_t n;
	const char *const *found = glob_expand(f->a, pattern, &n);
	for (uint32_t i = 0; i < n; i++)
		if (outputs_is_inside(f->a, found[i]) || !outputs_is_inside(f->a, path_dir(f->a, pattern)))
			vec_push(&f->files, found[i]);
		else
			print(stderr, "trib: `%s` leads out of the project and is left unchanged; `trib fmt %s` formats it\n", found[i],
			      found[i]);
}

static void fmt_add_operand(struct formatter *f, const char *path)
{
	struct stat st;
	if (is_stdin(path) || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		vec_push(&f->files, path);
	else
		fmt_add_pattern(f, arena_printf(f->a, "%s/**/*.tri", path));
}

static int fmt_by_text(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

static void add_project(struct formatter *f)
{
	struct build_spec spec;
	uint32_t n = 0;
	f->status = project_read(f->a, f->o, &spec);
	if (f->status != STATUS_OK)
		return;
	for (uint32_t i = 0; i < spec.n_models; i++)
		for (uint32_t k = 0; spec.models[i].sources && k < spec.models[i].sources->n_words; k++)
			fmt_add_pattern(f, spec.models[i].sources->words[k]);
	if (f->files.len)
		qsort(f->files.at, f->files.len, sizeof *f->files.at, fmt_by_text);
	for (uint32_t i = 0; i < f->files.len; i++)
		if (!n || strcmp(f->files.at[n - 1], f->files.at[i]) != 0)
			f->files.at[n++] = f->files.at[i];
	f->files.len = n;
}

static bool read_stdin(struct buf *text)
{
	char piece[1 << 16];
	size_t n;
	buf_puts(text, "");
	while ((n = fread(piece, 1, sizeof piece, stdin)) > 0 && text->len < INT32_MAX)
		buf_put(text, piece, n);
	if (text->len <= INT32_MAX)
		return !ferror(stdin);
	errno = EFBIG;
	return false;
}

/* NULL if it cannot be read. */
static const struct source *fmt_read_source(const char *path, struct sources *sources)
{
	struct buf text = {0};
	if (is_stdin(path) ? read_stdin(&text) : os_read_file(path, INT32_MAX, &text.at, &text.len))
		return sources_add_owned(sources, is_stdin(path) ? "<stdin>" : path, text.at, text.len);
	buf_free(&text);
	return NULL;
}

static void fmt_put(const char *text, size_t len)
{
	if (len)
		print_data(stdout, text, len);
}

/* Removes the temporary files of a killed run. Files come folder by folder. */
static void remove_temporary_files(struct formatter *f, const char *path)
{
	const char *folder = path_dir(f->a, path);
	if (f->last_folder && strcmp(f->last_folder, folder) == 0)
		return;
	os_remove_temporaries(folder);
	f->last_folder = folder;
}

/* Writes the file, or lists the change with --check and --diff. */
static void write_result(struct formatter *f, const char *path, const struct source *old, const struct buf *new)
{
	bool changed = old->len != new->len || (old->len && memcmp(old->text, new->at, old->len) != 0);
	struct buf diff = {0};
	if (changed && f->o->check) {
		raise_status(f, STATUS_FAILED);
		if (!f->o->diff)
			print(stdout, "%s\n", old->path);
	}
	if (changed && f->o->diff) {
		line_diff(old->path, old->text, old->len, new->at ? new->at : "", new->len, &diff);
		fmt_put(diff.at, diff.len);
	}
	buf_free(&diff);
	if (f->o->check || f->o->diff)
		return;
	if (is_stdin(path)) {
		fmt_put(new->at, new->len);
	} else if (changed) {
		remove_temporary_files(f, path);
		if (!os_rewrite(path, new->at ? new->at : "", new->len))
			io_error(f, "write", path);
	}
}

static void fmt_report(struct formatter *f, const struct diags *d, const struct sources *sources)
{
	if (f->o->json == 1)
		diags_print_json(d, sources, stdout);
	else
		diags_print(d, sources, stderr, terminal_has_color(2, f->o->color));
	raise_status(f, STATUS_FAILED);
}

static void format_file(struct formatter *f, const char *path)
{
	struct buf new = {0};
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	const struct source *src = fmt_read_source(path, sources);
	if (!src) {
		io_error(f, "read", path);
	} else if (format_source(src, &new, diags)) {
		write_result(f, path, src, &new);
	} else {
		diags_sort(diags);
		fmt_report(f, diags, sources);
	}
	diags_free(diags);
	sources_free(sources);
	buf_free(&new);
}

enum status cmd_fmt(const struct options *o)
{
	struct formatter f = {.o = o, .a = arena_new(0)};
	for (uint32_t i = 0; i < o->n_operands; i++)
		fmt_add_operand(&f, o->operands[i]);
	if (!o->n_operands)
		add_project(&f);
	for (uint32_t i = 0; i < f.files.len && !os_interrupted(); i++)
		format_file(&f, f.files.at[i]);
	vec_free(&f.files);
	arena_free(f.a);
	return os_interrupted() ? STATUS_INTERRUPTED : f.status;
}
