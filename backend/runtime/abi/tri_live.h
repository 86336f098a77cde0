/* Live reload: a running program uses a library that trib has rebuilt, without a restart.
 *
 *     tri_live *gain = tri_live_open("build/libgain.so", NULL, &err);
 *     for (;;) {
 *         if (tri_live_reload(gain, &err) > 0)
 *             printf("generation %llu\n", (unsigned long long)tri_live_generation(gain));
 *         tri_live_run(gain, 0, tensors, NULL, &err);
 *     }
 *     tri_live_close(gain);
 *
 * Threads may call all functions except tri_live_close at the same time. A call uses one generation of the library from begin to end. A
 * library is unloaded when no call uses it any more. A library that cannot be loaded, or whose entries have other tensors, is an error,
 * and the old one remains in use.
 *
 * A model keeps its states as long as it is open: use tri_live_begin and the model that it gives. A new library begins with initial states.
 *
 * For C11 and C++11 on Linux. One source file defines TRI_LIVE_IMPLEMENTATION before it includes this header. Before glibc 2.34 link
 * with -ldl -lpthread. The library must be replaced by a rename, as trib does: a file that is written in place changes while the program
 * uses it. */
#ifndef TRI_LIVE_H
#define TRI_LIVE_H
#ifndef TRI_ABI
#error "tri_live.h needs the declarations of a header built by trib: include that first, or use the tri_live.h of `emit = live`"
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct tri_live tri_live;

/* Loads the library at `path`. Every model is opened with `options`, which may be NULL and must outlive the result. Returns NULL with a
 * message in *err. */
tri_live *tri_live_open(const char *path, const tri_options *options, tri_error *err);
/* Checks for a new library at the path, by one stat. Returns 1: the new library is in use; 0: there is none; -1: there is one, but it
 * cannot be used, with a message in *err. Returns -1 once for each such library. */
int tri_live_reload(tri_live *live, tri_error *err);
/* Returns the number of libraries that were in use so far, from 1; 0 if `live` is NULL. */
uint64_t tri_live_generation(tri_live *live);
/* Runs an entry of the current generation and stores its number in *generation, which may be NULL. Returns TRI_OK or the error. */
int tri_live_run(tri_live *live, uint32_t entry, tri_tensor *io, uint64_t *generation, tri_error *err);
/* Unloads the library and frees `live`, which may be NULL. No call may be running. */
void tri_live_close(tri_live *live);

/* For several calls of the same generation: a model of it, which this thread alone uses until tri_live_end. */
typedef struct tri_live_use {
	const tri_model_desc *desc;
	struct tri_model *model; /* for desc->run */
	uint64_t generation;
	void *library; /* private */
} tri_live_use;
/* Returns TRI_OK or the error. */
int tri_live_begin(tri_live *live, tri_live_use *use, tri_error *err);
/* Does nothing if an argument is NULL. */
void tri_live_end(tri_live *live, tri_live_use *use);

#ifdef __cplusplus
}
#endif
#endif

#if defined(TRI_LIVE_IMPLEMENTATION) && !defined(TRI_LIVE_IMPLEMENTED)
#define TRI_LIVE_IMPLEMENTED
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Identifies a published file. */
struct tri_live_stamp {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds;
};

/* A loaded library, and its models that no call uses new_desc. */
struct tri_live_library {
	void *handle;
	const tri_model_desc *desc;
	uint64_t generation;
	struct tri_model **idle;
	uint32_t n_idle, room, uses;
};

struct tri_live {
	char *path;
	const tri_options *options;
	pthread_mutex_t reloading; /* guards looked_at and loads; taken before `lock` */
	struct tri_live_stamp looked_at;
	uint64_t loads;
	pthread_mutex_t lock; /* guards current, and idle and uses of all libraries; no library is called under it */
	struct tri_live_library *current;
};

static int tri_live_fail(tri_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int tri_live_fail(tri_error *err, int code, const char *fmt, ...)
{
	va_list ap;
	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof err->message, fmt, ap);
	va_end(ap);
	err->code = code;
	return code;
}

static int tri_live_null(tri_error *err, const char *name) { return tri_live_fail(err, TRI_ERR_ARGUMENT, "`%s` is NULL", name); }

static int tri_live_stat(const char *path, struct tri_live_stamp *out)
{
	struct stat st;
	memset(out, 0, sizeof *out);
	if (stat(path, &st) != 0)
		return 0;
	out->device = (uint64_t)st.st_dev;
	out->inode = (uint64_t)st.st_ino;
	out->size = (uint64_t)st.st_size;
	out->seconds = (int64_t)st.st_mtime;
#ifdef st_mtime /* else strict ISO C, in which the member has glibc's older name */
	out->nanoseconds = (int64_t)st.st_mtim.tv_nsec;
#else
	out->nanoseconds = (int64_t)st.st_mtimensec;
#endif
	return 1;
}

/* Returns the path in a spelling that the dynamic loader has not seen, because it returns the loaded library for a known path. The bits
 * of the number are `./` and `.//` after the folder. malloc'd. */
static char *tri_live_spelling(const char *path, uint64_t number)
{
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	char *out = (char *)malloc(strlen(path) + 3 * 64 + 3), *at = out;
	if (!out)
		return NULL;
	memcpy(at, path, folder);
	at += folder;
	memcpy(at, "./", 2);
	for (at += 2; number; number >>= 1) {
		memcpy(at, ".//", 3);
		at += number & 1 ? 3 : 2;
	}
	strcpy(at, path + folder);
	return out;
}

/* True if all segments are in the file. The dynamic loader crashes on a file that is cut off. */
static int tri_live_is_complete(const char *path)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	FILE *f = fopen(path, "rb");
	int i, whole = f && fread(&head, sizeof head, 1, f) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
		       head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof segment && fseek(f, 0, SEEK_END) == 0;
	uint64_t size = whole ? (uint64_t)ftell(f) : 0;
	for (i = 0; whole && i < head.e_phnum; i++) {
		whole = fseek(f, (long)(head.e_phoff + (uint64_t)i * sizeof segment), SEEK_SET) == 0 &&
			fread(&segment, sizeof segment, 1, f) == 1 && segment.p_offset <= size &&
			segment.p_filesz <= size - segment.p_offset;
	}
	if (f)
		fclose(f);
	return whole;
}

static void tri_live_unload(struct tri_live_library *l)
{
	if (!l)
		return;
	while (l->n_idle)
		l->desc->close(l->idle[--l->n_idle]);
	if (l->handle)
		dlclose(l->handle);
	free(l->idle);
	free(l);
}

static int tri_live_same_dim(const tri_dim_desc *a, const tri_dim_desc *b)
{
	int32_t i;
	if (a->n_steps != b->n_steps)
		return 0;
	for (i = 0; i < a->n_steps; i++)
		if (a->steps[i].op != b->steps[i].op || a->steps[i].value != b->steps[i].value)
			return 0;
	return 1;
}

static int tri_live_same_tensor(const tri_io_desc *a, const tri_io_desc *b)
{
	int32_t k;
	if (strcmp(a->name, b->name) != 0 || a->dtype != b->dtype || a->rank != b->rank)
		return 0;
	for (k = 0; k < a->rank; k++)
		if (!tri_live_same_dim(&a->dims[k], &b->dims[k]))
			return 0;
	return 1;
}

/* True if programs written for `old` can call `new_desc`. Entries may be added at the end. */
static int tri_live_compatible(const tri_model_desc *old, const tri_model_desc *new_desc, tri_error *err)
{
	uint32_t i;
	int32_t k;
	if (new_desc->n_entries < old->n_entries)
		return tri_live_fail(err, TRI_ERR_ARGUMENT, "the new library has fewer entries: restart the program") == TRI_OK;
	for (i = 0; i < old->n_entries; i++) {
		const tri_entry_desc *a = &old->entries[i], *b = &new_desc->entries[i];
		if (strcmp(a->name, b->name) != 0)
			return tri_live_fail(err, TRI_ERR_ARGUMENT,
					     "the new library has another entry in place of %.80s: restart the program", a->name) == TRI_OK;
		if (a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs)
			return tri_live_fail(err, TRI_ERR_ARGUMENT, "entry %.80s of the new library has other tensors: restart the program",
					     a->name) == TRI_OK;
		for (k = 0; k < a->n_inputs + a->n_outputs; k++) {
			const tri_io_desc *x = k < a->n_inputs ? &a->inputs[k] : &a->outputs[k - a->n_inputs];
			const tri_io_desc *y = k < a->n_inputs ? &b->inputs[k] : &b->outputs[k - a->n_inputs];
			if (!tri_live_same_tensor(x, y))
				return tri_live_fail(
					       err, TRI_ERR_SHAPE,
					       "entry %.60s of the new library: `%.60s` has another name, type or shape: restart the program",
					       a->name, x->name) == TRI_OK;
		}
	}
	return 1;
}

/* Checks that this header knows the descriptor's version, and that its functions are those of its own library. */
static int tri_live_check(const struct tri_live_library *l, const char *path, tri_error *err)
{
	char name[256];
	void *own, *described;
	if (l->desc->abi != TRI_ABI)
		return tri_live_fail(err, TRI_ERR_ARGUMENT, "%.150s has interface version %u, this program has %d: build both again", path,
				     (unsigned)l->desc->abi, TRI_ABI);
	snprintf(name, sizeof name, "%.240s_open", l->desc->name);
	own = dlsym(l->handle, name);
	memcpy(&described, &l->desc->open, sizeof described);
	if (own && own != described)
		return tri_live_fail(err, TRI_ERR_ARGUMENT,
				     "%.150s is also linked to the program, so it cannot be replaced: remove it from the link", path);
	return TRI_OK;
}

/* Returns NULL with a message in *err. */
static struct tri_live_library *tri_live_load(tri_live *live, tri_error *err)
{
	struct tri_live_library *l = (struct tri_live_library *)calloc(1, sizeof *l);
	char *name = tri_live_spelling(live->path, live->loads++);
	const char *why;
	if (!l || !name) {
		tri_live_fail(err, TRI_ERR_MEMORY, "out of memory");
	} else if (!tri_live_is_complete(live->path)) {
		tri_live_fail(err, TRI_ERR_ARGUMENT, "%.200s is not a complete library: build it again", live->path);
	} else if (!(l->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
		why = dlerror();
		tri_live_fail(err, TRI_ERR_ARGUMENT, "%.240s", why ? why : "the library cannot be loaded");
	} else if (!(l->desc = (const tri_model_desc *)dlsym(l->handle, TRI_DESC_SYMBOL))) {
		tri_live_fail(err, TRI_ERR_ARGUMENT, "%.150s has no " TRI_DESC_SYMBOL ": this version of trib did not build it",
			      live->path);
	} else if (tri_live_check(l, live->path, err) == TRI_OK) {
		free(name);
		return l;
	}
	free(name);
	tri_live_unload(l);
	return NULL;
}

/* Adds the model to the idle ones. Returns NULL, or the model if there is no memory: the caller then closes it. The lock must be held. */
static struct tri_model *tri_live_add_idle(struct tri_live_library *l, struct tri_model *m)
{
	if (l->n_idle == l->room) {
		uint32_t room = l->room ? l->room * 2 : 4;
		struct tri_model **idle = (struct tri_model **)realloc(l->idle, room * sizeof *idle);
		if (!idle)
			return m;
		l->idle = idle;
		l->room = room;
	}
	l->idle[l->n_idle++] = m;
	return NULL;
}

/* Replaces the current library if the new one is compatible. Returns TRI_OK or the error. */
static int tri_live_replace(tri_live *live, struct tri_live_library *l, tri_error *err)
{
	struct tri_live_library *old = live->current; /* changed by a reload only */
	struct tri_model *first;
	int unused;
	if (old && l->handle == old->handle)
		return tri_live_fail(err, TRI_ERR_ARGUMENT, "%.150s was written in place: replace it by a rename", live->path);
	if (old && !tri_live_compatible(old->desc, l->desc, err))
		return TRI_ERR_SHAPE;
	first = l->desc->open(live->options, err);
	if (!first)
		return TRI_ERR_DEVICE;
	l->generation = old ? old->generation + 1 : 1;
	pthread_mutex_lock(&live->lock);
	first = tri_live_add_idle(l, first);
	live->current = l;
	unused = old && old->uses == 0;
	pthread_mutex_unlock(&live->lock);
	if (first)
		l->desc->close(first);
	if (unused)
		tri_live_unload(old);
	return TRI_OK;
}

static int tri_live_reload_locked(tri_live *live, tri_error *err)
{
	struct tri_live_stamp new_desc;
	struct tri_live_library *l;
	if (!tri_live_stat(live->path, &new_desc) || memcmp(&new_desc, &live->looked_at, sizeof new_desc) == 0)
		return 0;
	live->looked_at = new_desc;
	l = tri_live_load(live, err);
	if (!l)
		return -1;
	if (tri_live_replace(live, l, err) == TRI_OK)
		return 1;
	tri_live_unload(l);
	return -1;
}

int tri_live_reload(tri_live *live, tri_error *err)
{
	int done = 0;
	if (!live) {
		tri_live_null(err, "live");
		return -1;
	}
	if (pthread_mutex_trylock(&live->reloading) != 0) /* another thread is reloading */
		return 0;
	done = tri_live_reload_locked(live, err);
	pthread_mutex_unlock(&live->reloading);
	return done;
}

tri_live *tri_live_open(const char *path, const tri_options *options, tri_error *err)
{
	tri_live *live = path ? (tri_live *)calloc(1, sizeof *live) : NULL;
	if (!path) {
		tri_live_null(err, "path");
	} else if (!live || !(live->path = (char *)malloc(strlen(path) + 1))) {
		tri_live_fail(err, TRI_ERR_MEMORY, "out of memory");
	} else {
		memcpy(live->path, path, strlen(path) + 1);
		live->options = options;
		pthread_mutex_init(&live->reloading, NULL);
		pthread_mutex_init(&live->lock, NULL);
		switch (tri_live_reload_locked(live, err)) {
		case 1: return live;
		case 0: tri_live_fail(err, TRI_ERR_ARGUMENT, "%.200s does not exist: build it first", path);
		}
		tri_live_close(live);
		return NULL;
	}
	if (live)
		free(live->path);
	free(live);
	return NULL;
}

void tri_live_close(tri_live *live)
{
	if (!live)
		return;
	tri_live_unload(live->current);
	pthread_mutex_destroy(&live->reloading);
	pthread_mutex_destroy(&live->lock);
	free(live->path);
	free(live);
}

uint64_t tri_live_generation(tri_live *live)
{
	uint64_t n;
	if (!live)
		return 0;
	pthread_mutex_lock(&live->lock);
	n = live->current->generation;
	pthread_mutex_unlock(&live->lock);
	return n;
}

static void tri_live_release(tri_live *live, struct tri_live_library *l, struct tri_model *m)
{
	int unused;
	pthread_mutex_lock(&live->lock);
	if (m)
		m = tri_live_add_idle(l, m);
	pthread_mutex_unlock(&live->lock);
	if (m)
		l->desc->close(m);
	pthread_mutex_lock(&live->lock);
	unused = --l->uses == 0 && l != live->current;
	pthread_mutex_unlock(&live->lock);
	if (unused)
		tri_live_unload(l);
}

static int tri_live_acquire(tri_live *live, tri_live_use *use, tri_error *err)
{
	struct tri_live_library *l;
	pthread_mutex_lock(&live->lock);
	l = live->current;
	l->uses++;
	use->library = l;
	use->desc = l->desc;
	use->generation = l->generation;
	use->model = l->n_idle ? l->idle[--l->n_idle] : NULL;
	pthread_mutex_unlock(&live->lock);
	if (!use->model)
		use->model = l->desc->open(live->options, err);
	if (use->model)
		return TRI_OK;
	tri_live_release(live, l, NULL);
	return TRI_ERR_MEMORY;
}

/* A build removes the weight file of the old library. A model of the old one can then not be opened any more, and this reloads. */
int tri_live_begin(tri_live *live, tri_live_use *use, tri_error *err)
{
	uint64_t tried;
	if (!live || !use)
		return tri_live_null(err, live ? "use" : "live");
	do {
		if (tri_live_acquire(live, use, err) == TRI_OK)
			return TRI_OK;
		tried = use->generation;
		pthread_mutex_lock(&live->reloading);
		tri_live_reload_locked(live, NULL);
		pthread_mutex_unlock(&live->reloading);
	} while (tri_live_generation(live) != tried);
	return err && err->code ? err->code : TRI_ERR_MEMORY;
}

void tri_live_end(tri_live *live, tri_live_use *use)
{
	if (live && use && use->library)
		tri_live_release(live, (struct tri_live_library *)use->library, use->model);
}

int tri_live_run(tri_live *live, uint32_t entry, tri_tensor *io, uint64_t *generation, tri_error *err)
{
	tri_live_use use;
	int status = tri_live_begin(live, &use, err);
	if (status != TRI_OK)
		return status;
	status = use.desc->run(use.model, entry, io, err);
	if (generation)
		*generation = use.generation;
	tri_live_end(live, &use);
	return status;
}

#ifdef __cplusplus
}
#endif
#endif
