#include "builder/build/session/warm.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/frontend.h"

/* Memory that may grow before all of it is dropped: single texts and units cannot be freed. */
#define MOST_GROWTH ((size_t)32 << 20)

struct model {
	char *name;
	hash128 files;
	struct frontend *frontend; /* NULL: a build uses it */
	size_t first_bytes;        /* memory when it was new */
};
struct warm {
	struct sources *sources;
	struct map by_path; /* path → id of the last source */
	size_t first_bytes; /* of the first text of each file */
	VEC(struct model) models;
};

struct warm *warm_new(void)
{
	struct warm *w = alloc_zeroed(sizeof *w);
	w->sources = sources_new();
	return w;
}

static void warm_clear(struct warm *w)
{
	for (uint32_t i = 0; i < w->models.len; i++) {
		frontend_free(w->models.at[i].frontend);
		free(w->models.at[i].name);
	}
	vec_free(&w->models);
	map_free(&w->by_path);
	sources_free(w->sources);
}

void warm_free(struct warm *w)
{
	if (!w)
		return;
	warm_clear(w);
	free(w);
}

static bool outgrown(size_t now, size_t first_bytes) { return now > MOST_GROWTH + 2 * first_bytes; }

struct sources *warm_begin(struct warm *w)
{
	bool drop = outgrown(sources_bytes(w->sources), w->first_bytes);
	for (uint32_t i = 0; i < w->models.len; i++) {
		const struct model *m = &w->models.at[i];
		drop = drop || (m->frontend && outgrown(frontend_memory(m->frontend), m->first_bytes));
	}
	if (drop) {
		warm_clear(w);
		*w = (struct warm){.sources = sources_new()};
	}
	return w->sources;
}

const struct source *warm_source(struct warm *w, const char *path, char *text, size_t len)
{
	uint64_t id;
	if (map_get(&w->by_path, map_key_str(path), &id)) {
		const struct source *s = sources_get(w->sources, (uint32_t)id);
		if (s->len == len && memcmp(s->text, text, len) == 0) {
			free(text);
			sources_use(w->sources, s->id);
			return s;
		}
	} else {
		w->first_bytes += len;
	}
	const struct source *s = sources_add_owned(w->sources, path, text, len);
	map_put(&w->by_path, map_key_str(path), s->id);
	return s;
}

static struct model *warm_find(struct warm *w, const char *name)
{
	for (uint32_t i = 0; i < w->models.len; i++)
		if (!strcmp(w->models.at[i].name, name))
			return &w->models.at[i];
	return NULL;
}

struct frontend *warm_take(struct warm *w, const char *name, hash128 *files)
{
	struct model *m = warm_find(w, name);
	struct frontend *f = m ? m->frontend : NULL;
	if (!f)
		return NULL;
	m->frontend = NULL;
	*files = m->files;
	return f;
}

void warm_put(struct warm *w, const char *name, hash128 files, struct frontend *f)
{
	struct model *m = warm_find(w, name);
	if (!m) {
		vec_push(&w->models, ((struct model){.name = strdup(name)}));
		m = &w->models.at[w->models.len - 1];
	}
	if (!m->name)
		bug_no_memory();
	if (!m->first_bytes || !hash_eq(m->files, files))
		m->first_bytes = frontend_memory(f);
	m->files = files;
	m->frontend = f;
}
