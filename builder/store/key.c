/* A unit's key does not contain the keys of inlined callees. run_fn_hash covers their code, because the plan is made after inlining. So
 * an edit of a callee that does not change the optimised code compiles nothing. */
#include "builder/store/key.h"
#include <unistd.h>
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/module.h"
#include "builder/store/disk.h"
#include "builder/store/inputs.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "frontend/hir/hir.h"

#define KEY_VERSION 1

/* ---- files that seldom change ---- */

/* A file that seldom changes, as the store remembers it. */
struct file_record {
	struct file_stamp stamp;
	hash128 content;
};

static void serialize_file(struct serializer *s, struct file_record *r)
{
	serialize_stamp(s, &r->stamp);
	serialize_hash(s, &r->content);
}

static void key_save(struct store *project, hash128 key, struct file_record *r)
{
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	serialize_file(&s, r);
	store_put(project, key, b.at, b.len);
	buf_free(&b);
}

static void key_digest(const struct disk *d, const struct open_file *f, struct file_record *r)
{
	int64_t clock = d->clock(d->ctx);
	r->content = f->digest(f->ctx);
	r->stamp = *f->stamp;
	input_clear_if_young(&r->stamp, clock);
}

/* `open`: NULL if the file is not open. */
static hash128 hash_file(struct store *project, struct inputs *in, const char *path, const struct open_file *open)
{
	hash128 key = store_key("file", path);
	struct file_record r;
	const struct disk *d = inputs_disk(in);
	size_t n = 0;
	const void *bytes = store_get(project, key, &n);
	struct serializer s = serializer_from(NULL, bytes, n);
	serialize_file(&s, &r);
	if (!serializer_is_done(&s) || !disk_has_stamp(d, path, &r.stamp)) {
		if (open)
			key_digest(d, open, &r);
		else
			input_hash_file(d, path, &r.stamp, &r.content);
		if (r.stamp.mtime_ns) /* else the stamp is not reliable */
			key_save(project, key, &r);
	}
	inputs_add(in, path, &r.stamp, r.content);
	return r.content;
}

hash128 file_hash(struct store *project, struct inputs *in, const char *path) { return hash_file(project, in, path, NULL); }

void file_hash_open(struct store *project, struct inputs *in, const char *path, const struct open_file *f)
{
	hash_file(project, in, path, f);
}

/* ---- keys ---- */

hash128 key_compiler(struct arena *session, struct store *project, struct inputs *in, hash128 *generator)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	const char *codegen = module_path(session, "codegen");
	hash128 id = {KEY_VERSION, 0};
	if (n > 0) {
		exe[n] = 0;
		id = hash_combine(id, file_hash(project, in, exe));
	}
	if (codegen)
		id = hash_combine(id, *generator = file_hash(project, in, codegen));
	return id;
}

hash128 key_unit(hash128 compiler, hash128 target, const struct plan_options *options, const struct plan *p)
{
	struct hasher *h = hasher_new();
	hasher_add_hash(h, compiler);
	hasher_add_hash(h, target);
	hasher_add_u64(h, (uint64_t)options->profile_hook << 8 | (uint64_t)options->opt << 1 | options->size);
	hasher_add_str(h, p->unit->symbol); /* the object defines it */
	hasher_add_hash(h, p->run_fn_hash);
	return hasher_finish(h);
}

struct plan_options key_unit_options(const struct plan_options *model, const struct target *target, const struct ir_program *program,
				     const struct hir_unit *u)
{
	struct plan_options o = *model;
	o.target = target;
	o.program = program;
	o.profile_hook = model->profile_hook && target->calls_hook;
	if (u->opt >= 0) {
		o.opt = (uint8_t)u->opt;
		o.size = false;
	}
	return o;
}
