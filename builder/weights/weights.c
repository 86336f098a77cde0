#include "builder/weights/weights_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/manifest/glob.h"
#include "builder/weights/file_kind.h"
#include "frontend/frontend.h"

/* Suggests the file in the same folder with the nearest name. */
static void suggest_file(struct arena *a, const char *path, struct diag *g, struct diags *diags)
{
	uint32_t n;
	const char *const *there = glob_expand(a, path_join(a, path_dir(a, path), "*"), &n);
	const char *near = diag_nearest(path, there, n);
	if (near)
		diag_help(diags, g, "did you mean `%s`?", near);
	else
		diag_help(diags, g, "without the key `weights` every parameter takes its initial value");
}

/* Names the format of the file, and says how to convert it to safetensors. */
static void explain_format(struct arena *a, const char *path, enum file_kind kind, const char *error, span at, struct diags *diags)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');
	const char *target = arena_printf(a, "%.*s.safetensors", (int)(dot && dot > base ? dot - base : (ptrdiff_t)strlen(base)), base);
	struct diag *g = kind == FILE_UNKNOWN
				 ? diag_add(diags, DIAG_SAFETENSORS, at, "`%s` cannot be used: %s", path, error)
				 : diag_add(diags, DIAG_SAFETENSORS, at, "`%s` is %s, not a safetensors file", path, file_kind_text(kind));
	if (kind == FILE_PYTORCH || kind == FILE_PICKLE) {
		diag_note(diags, g, "in Python: `import torch, safetensors.torch`");
		diag_note(diags, g, "`safetensors.torch.save_file(torch.load(\"%s\", map_location=\"cpu\"), \"%s\")`", base, target);
		diag_help(diags, g, "convert it with these two lines of Python, and write `weights = %s`",
			  path_join(a, path_dir(a, path), target));
	} else if (kind == FILE_NPZ || kind == FILE_NPY) {
		diag_note(diags, g, "in Python: `import numpy, safetensors.numpy`");
		diag_note(diags, g,
			  kind == FILE_NPZ ? "`safetensors.numpy.save_file(dict(numpy.load(\"%s\")), \"%s\")`"
					   : "`safetensors.numpy.save_file({\"NAME\": numpy.load(\"%s\")}, \"%s\")`",
			  base, target);
		diag_help(diags, g, "convert it with these two lines of Python, and write `weights = %s`",
			  path_join(a, path_dir(a, path), target));
	} else if (kind == FILE_LFS) {
		diag_help(diags, g, "fetch it: `git lfs pull --include \"%s\"`", path);
	} else if (kind == FILE_HTML) {
		diag_help(diags, g, "download the file itself; on Hugging Face its address has `resolve` where the page's has `blob`");
	} else if (kind == FILE_INDEX) {
		diag_help(diags, g, "join the files that it names into one safetensors file");
	} else if (kind == FILE_EMPTY) {
		diag_help(diags, g, "save or download it again");
	}
}

static int by_name(const void *x, const void *y)
{
	const struct st_tensor *a = x, *b = y;
	int c = strcmp(a->name, b->name);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

/* Removes the prefix from the names that have it. */
static bool strip_prefix(struct arena *session, struct weights *w, const struct weights_options *o, struct diags *diags)
{
	size_t len = strlen(o->prefix);
	struct st_tensor *list = ARENA_ARRAY(session, struct st_tensor, w->st->n + 1);
	struct safetensors *st = ARENA_NEW(session, struct safetensors);
	uint32_t stripped = 0;
	for (uint32_t i = 0; i < w->st->n; i++) {
		list[i] = w->st->tensors[i];
		if (strncmp(list[i].name, o->prefix, len) != 0 || !list[i].name[len])
			continue;
		list[i].name += len;
		stripped++;
	}
	if (!stripped) {
		struct diag *g =
			diag_add(diags, DIAG_MANIFEST_VALUE, o->prefix_at, "no tensor in `%s` has the prefix `%s`", w->path, o->prefix);
		if (w->st->n)
			diag_note(diags, g, "the file has `%s`", w->st->tensors[0].name);
		diag_help(diags, g, "`trib build` without `weights.prefix` lists the names that are missing");
		return false;
	}
	qsort(list, w->st->n, sizeof *list, by_name);
	for (uint32_t i = 1; i < w->st->n; i++)
		if (strcmp(list[i].name, list[i - 1].name) == 0) {
			diag_add(diags, DIAG_MANIFEST_VALUE, o->prefix_at, "`%s` has both `%s` and `%s%s`", w->path, list[i].name,
				 o->prefix, list[i].name);
			return false;
		}
	*st = (struct safetensors){list, w->st->n};
	w->st = st;
	return true;
}

struct weights *weights_open(struct arena *session, const char *path, span at, const struct weights_options *o, struct diags *diags)
{
	struct weights *w = alloc_zeroed(sizeof *w);
	const char *error = NULL;
	w->path = arena_strdup(session, path);
	w->at = at;
	w->initialize = o->initialize;
	os_stamp(path, &w->stamp);
	if (!os_map_file(path, &w->bytes, &w->len)) {
		struct diag *g = diag_add(diags, DIAG_FILE_READ, at, "cannot read the weights file `%s`: %s", path, strerror(errno));
		if (errno == ENOENT)
			suggest_file(session, path, g, diags);
		goto fail;
	}
	w->st = safetensors_parse(session, w->bytes, w->len, &error);
	if (!w->st) {
		explain_format(session, path, file_kind_of(w->bytes, w->len), error, at, diags);
		goto fail;
	}
	if (o->prefix && !strip_prefix(session, w, o, diags))
		goto fail;
	w->names = ARENA_ARRAY(session, const char *, w->st->n + 1);
	for (uint32_t i = 0; i < w->st->n; i++)
		w->names[i] = w->st->tensors[i].name;
	return w;
fail:
	weights_close(w);
	return NULL;
}

bool weights_changed(const struct weights *w)
{
	struct file_stamp now;
	return w && !(os_stamp(w->path, &now) && os_stamp_eq(&now, &w->stamp));
}

void weights_close(struct weights *w)
{
	if (!w)
		return;
	if (w->bytes)
		os_unmap(w->bytes, w->len);
	free(w);
}

void weights_print_shape(struct buf *b, const int64_t *dims, uint32_t rank)
{
	buf_putc(b, '[');
	for (uint32_t i = 0; i < rank; i++)
		buf_printf(b, "%s%lld", i ? ", " : "", (long long)dims[i]);
	buf_putc(b, ']');
}

const char *weights_type_text(const struct st_tensor *s) { return s->elem < DT_COUNT ? dtype_text(s->elem) : s->type; }

const char *weights_remedy(struct arena *a, const struct st_tensor *s, dtype want)
{
	static const char *const widened[][2] = {{"U8", "int16"}, {"U16", "int32"}, {"U32", "int64"}, {"U64", "int64"}};
	const char *to = strncmp(s->type, "F8", 2) == 0 ? "float16" : strncmp(s->type, "F", 1) == 0 ? "float32" : NULL;
	if (s->elem < DT_COUNT)
		return arena_printf(a, "save it with at most 8 dimensions: `w.flatten(0, %u)`", s->rank - 8);
	for (size_t i = 0; i < sizeof widened / sizeof *widened; i++)
		if (strcmp(s->type, widened[i][0]) == 0)
			to = widened[i][1];
	if (want == DT_TRIT)
		to = "int8";
	else if (want < DT_COUNT && want != DT_BOOL)
		to = dtype_text(want);
	if (!to)
		return "save it with an element type that the language has, e.g. float32";
	return arena_printf(a, "convert it before saving: `w.to(torch.%s)`", to);
}

const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n)
{
	struct elab_input *list = ARENA_ARRAY(a, struct elab_input, (w ? w->st->n : 0) + 1);
	*n = w ? w->st->n : 0;
	for (uint32_t i = 0; i < *n; i++) {
		const struct st_tensor *t = &w->st->tensors[i];
		struct elab_input *in = &list[i];
		*in = (struct elab_input){.name = t->name, .elem = t->elem, .at = w->at};
		if (t->elem < DT_COUNT && t->rank <= 8) {
			in->rank = (uint8_t)t->rank;
			memcpy(in->dims, t->dims, t->rank * sizeof *t->dims);
			continue;
		}
		struct buf b = {0};
		buf_printf(&b, "`%s` holds `%s` as %s", w->path, t->name, weights_type_text(t));
		weights_print_shape(&b, t->dims, t->rank);
		buf_puts(&b, t->elem == DT_COUNT ? ": the language has no such element type" : ": tensors have at most 8 dimensions");
		in->unusable = arena_strdup(a, b.at);
		in->remedy = weights_remedy(a, t, DT_COUNT);
		buf_free(&b);
	}
	return list;
}
