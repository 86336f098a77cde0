/* Opens a weights file: safetensors, the index of several, GGUF, or PyTorch. Explains files of other formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/path.h"
#include "builder/json_read.h"
#include "builder/manifest/glob.h"
#include "builder/weights/file_kind.h"
#include "builder/weights/gguf.h"
#include "builder/weights/pytorch.h"
#include "builder/weights/safetensors.h"
#include "builder/weights/weights_file.h"

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
	bool is_read = kind == FILE_UNKNOWN || kind == FILE_GGUF || kind == FILE_INDEX;
	struct diag *g =
		is_read ? diag_add(diags, DIAG_SAFETENSORS, at, "`%s` cannot be used: %s", path, error)
		: kind == FILE_PYTORCH
			? diag_add(diags, DIAG_SAFETENSORS, at, "`%s` is %s, which cannot be used: %s", path, file_kind_text(kind), error)
			: diag_add(diags, DIAG_SAFETENSORS, at, "`%s` is %s, not a safetensors file", path, file_kind_text(kind));
	if (kind == FILE_PYTORCH)
		diag_help(diags, g, "save tensors alone, with `torch.save(model.state_dict(), \"%s\")`, or as safetensors", base);
	else if (kind == FILE_PICKLE) {
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
	} else if (kind == FILE_GGUF) {
		diag_help(diags, g, "save or convert it again; F32, F16, BF16, TQ1_0, TQ2_0 and I2_S tensors are read");
	} else if (kind == FILE_EMPTY) {
		diag_help(diags, g, "save or download it again");
	}
}

/* Removes the prefix from the names that have it. */
static bool strip_prefix(struct arena *session, struct weights *w, const struct weights_options *options, struct diags *diags)
{
	size_t len = strlen(options->prefix);
	struct file_tensor *list = ARENA_ARRAY(session, struct file_tensor, w->st->n + 1);
	struct tensor_list *st = ARENA_NEW(session, struct tensor_list);
	uint32_t stripped = 0;
	for (uint32_t i = 0; i < w->st->n; i++) {
		list[i] = w->st->tensors[i];
		if (strncmp(list[i].name, options->prefix, len) != 0 || !list[i].name[len])
			continue;
		list[i].name += len;
		list[i].prefix = len;
		stripped++;
	}
	if (!stripped) {
		struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, options->prefix_at, "no tensor in `%s` has the prefix `%s`", w->path,
					  options->prefix);
		if (w->st->n)
			diag_note(diags, g, "the file has `%s`", w->st->tensors[0].name);
		diag_help(diags, g, "`trib build` without `weights.prefix` lists the names that are missing");
		return false;
	}
	tensor_list_sort(list, w->st->n);
	for (uint32_t i = 1; i < w->st->n; i++)
		if (strcmp(list[i].name, list[i - 1].name) == 0) {
			diag_add(diags, DIAG_MANIFEST_VALUE, options->prefix_at, "`%s` has both `%s` and `%s%s`", w->path, list[i].name,
				 options->prefix, list[i].name);
			return false;
		}
	*st = (struct tensor_list){list, w->st->n};
	w->st = st;
	return true;
}

/* ---- opening ---- */

static bool map_part(struct weights *w, const char *path, span at, struct diags *diags, struct weights_part **out)
{
	struct weights_part *p = &w->parts[w->n_parts];
	p->path = path;
	os_stamp(path, &p->stamp);
	*out = p;
	if (os_map_file(path, &p->bytes, &p->len)) {
		w->n_parts++;
		return true;
	}
	struct diag *g = diag_add(diags, DIAG_FILE_READ, at, "cannot read the weights file `%s`: %s", path, os_read_error(errno));
	if (errno == ENOENT)
		suggest_file(w->arena, path, g, diags);
	return false;
}

/* A name of the index is that of a file below its folder. */
static bool is_shard_name(const char *name)
{
	return name && *name && *name != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../") &&
	       !(strlen(name) > 3 && strcmp(name + strlen(name) - 3, "/..") == 0);
}

/* The part of the shard. NULL: reported. */
static const struct tensor_list *open_shard(struct weights *w, struct map *shards, const struct tensor_list **lists, const char *name,
					    struct diags *diags)
{
	const char *error = NULL, *path = path_join(w->arena, path_dir(w->arena, w->path), name);
	struct weights_part *p;
	uint64_t at;
	if (map_get(shards, map_key_str(path), &at))
		return lists[at];
	if (!map_part(w, path, w->at, diags, &p))
		return NULL;
	const struct tensor_list *list = safetensors_parse(w->arena, p->bytes, p->len, &error);
	if (!list)
		explain_format(w->arena, path, file_kind_of(p->bytes, p->len), error, w->at, diags);
	lists[p - w->parts] = list;
	map_put(shards, map_key_str(path), (uint64_t)(p - w->parts));
	return list;
}

static bool add_shards(struct weights *w, json_t *names, struct diags *diags)
{
	size_t n = json_object_size(names);
	struct file_tensor *tensors = ARENA_ARRAY(w->arena, struct file_tensor, n + 1);
	struct tensor_list *all = ARENA_NEW(w->arena, struct tensor_list);
	const struct tensor_list **lists = ARENA_ARRAY(w->arena, const struct tensor_list *, n + 2);
	struct map shards = {0};
	const char *name;
	json_t *file;
	w->parts = arena_grow(w->arena, w->parts, w->n_parts, &w->cap_parts, (uint32_t)n + 1, sizeof *w->parts);
	json_object_foreach(names, name, file)
	{
		const char *shard = json_string_value(file);
		if (!is_shard_name(shard)) {
			diag_add(diags, DIAG_SAFETENSORS, w->at,
				 "`%s` cannot be used: tensor `%s` is in `%s`, which is no file below its folder", w->path, name,
				 shard ? shard : "");
			break;
		}
		const struct tensor_list *list = open_shard(w, &shards, lists, shard, diags);
		const struct file_tensor *t = list ? tensor_list_find(list, name) : NULL;
		if (list && !t) {
			struct diag *g = diag_add(diags, DIAG_SAFETENSORS, w->at, "`%s` cannot be used: `%s` lacks its tensor `%s`",
						  w->path, shard, name);
			diag_help(diags, g, "download or save the index and all its files again");
		}
		if (!t)
			break;
		tensors[all->n++] = *t;
	}
	map_free(&shards);
	tensor_list_sort(tensors, all->n);
	all->tensors = tensors;
	w->st = all;
	return all->n == n;
}

static bool open_index(struct weights *w, struct diags *diags)
{
	struct buf why = {0};
	const struct weights_part *p = &w->parts[0];
	json_t *root = json_read(p->bytes, p->len, JSON_REJECT_DUPLICATES, &why), *names = json_object_get(root, "weight_map");
	bool ok = json_is_object(names);
	if (ok)
		ok = add_shards(w, names, diags);
	else
		explain_format(w->arena, w->path, FILE_INDEX,
			       root ? "its `weight_map` is not a JSON object" : arena_printf(w->arena, "it is not valid JSON: %s", why.at),
			       w->at, diags);
	buf_free(&why);
	json_decref(root);
	return ok;
}

static bool open_tensors(struct weights *w, struct diags *diags)
{
	const struct weights_part *p = &w->parts[0];
	const char *error = NULL;
	enum file_kind kind = file_kind_of(p->bytes, p->len);
	if (kind == FILE_INDEX)
		return open_index(w, diags);
	w->st = (kind == FILE_GGUF      ? gguf_parse
		 : kind == FILE_PYTORCH ? pytorch_parse
					: safetensors_parse)(w->arena, p->bytes, p->len, &error);
	if (!w->st)
		explain_format(w->arena, w->path, kind, error, w->at, diags);
	return w->st;
}

struct weights *weights_open(struct arena *session, const char *path, span at, const struct weights_options *options, struct diags *diags)
{
	struct weights *w = alloc_zeroed(sizeof *w);
	struct weights_part *p;
	w->arena = session;
	w->path = arena_strdup(session, path);
	w->at = at;
	w->initialize = options->initialize;
	w->parts = arena_grow(session, NULL, 0, &w->cap_parts, 1, sizeof *w->parts);
	if (!map_part(w, w->path, at, diags, &p) || !open_tensors(w, diags) ||
	    (options->prefix && !strip_prefix(session, w, options, diags))) {
		weights_close(w);
		return NULL;
	}
	w->contents = ARENA_ARRAY(session, struct weights_content, w->st->n + 1);
	w->names = ARENA_ARRAY(session, const char *, w->st->n + 1);
	for (uint32_t i = 0; i < w->st->n; i++)
		w->names[i] = w->st->tensors[i].name;
	return w;
}

const char *weights_file_path(const struct weights *w, uint32_t i) { return w && i < w->n_parts ? w->parts[i].path : NULL; }

bool weights_changed(const struct weights *w)
{
	struct file_stamp now;
	bool same = true;
	for (uint32_t i = 0; w && i < w->n_parts; i++)
		same = same && os_stamp(w->parts[i].path, &now) && os_stamp_eq(&now, &w->parts[i].stamp);
	return !same;
}

void weights_close(struct weights *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n_parts; i++)
		os_unmap(w->parts[i].bytes, w->parts[i].len);
	free(w);
}
