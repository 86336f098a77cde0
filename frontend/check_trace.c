/* The record of a file's checks, for a later process: what the check of each definition read. A definition is not checked again if its
 * tokens and everything that its check read are unchanged. If that is true of all definitions of a file, its names are not resolved
 * again either. Hashes of 64 bits are enough: a record is compared with a later version of the same file only.
 *
 *   names of the file, its tokens; the other files that were read: path, names; items: tokens, reads: file (0: its own), item, depth, hash */
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "frontend/frontend.h"
#include "frontend/elab/elab.h"

static uint64_t check_trace_hash_names(const struct frontend *f, const struct module *m)
{
	struct hasher *h = hasher_new();
	for (uint32_t i = 0; i < m->n_items; i++) {
		const struct item *it = &m->items[i];
		hasher_add_u64(h, it->kind);
		hasher_add_str(h, it->name ? name_text(f, it->name) : "");
		hasher_add_str(h, it->import.target ? it->import.target->path : "");
		hasher_add_str(h, it->import.remote ? name_text(f, it->import.remote) : "");
	}
	return hasher_finish(h).lo;
}

static uint64_t hash_read(const struct item_read *read)
{
	return (read->depth == READ_WHOLE ? read->item->tokens : read->item->interface).lo;
}

/* ---- writing ---- */

struct other_files {
	VEC(const struct module *) at; /* number i + 1 in the record */
};

static uint32_t check_trace_number_of(struct other_files *o, const struct module *own, const struct module *m)
{
	if (m == own)
		return 0;
	for (uint32_t i = o->at.len; i-- > 0;)
		if (o->at.at[i] == m)
			return i + 1;
	vec_push(&o->at, m);
	return o->at.len;
}

static void check_trace_put_hash(struct buf *out, uint64_t h) { buf_put(out, &h, sizeof h); }

void frontend_write_checks(struct frontend *f, uint32_t file, struct buf *out)
{
	struct module *m = f->modules.at[file];
	struct other_files o = {{0}};
	for (uint32_t i = 0; i < m->n_items; i++) { /* of a file that is only imported, the names count */
		if (m->items[i].import.target)
			check_trace_number_of(&o, m, m->items[i].import.target);
		for (uint32_t k = 0; k < m->items[i].checked.reads.n; k++)
			check_trace_number_of(&o, m, m->items[i].checked.reads.at[k].item->mod);
	}
	check_trace_put_hash(out, check_trace_hash_names(f, m));
	check_trace_put_hash(out, m->tokens.lo);
	varint_put(out, o.at.len);
	for (uint32_t i = 0; i < o.at.len; i++) {
		varint_put(out, strlen(o.at.at[i]->path));
		buf_put(out, o.at.at[i]->path, strlen(o.at.at[i]->path));
		check_trace_put_hash(out, check_trace_hash_names(f, o.at.at[i]));
	}
	for (uint32_t i = 0; i < m->n_items; i++) {
		const struct item *it = &m->items[i];
		check_trace_put_hash(out, it->tokens.lo);
		varint_put(out, it->checked.reads.n);
		for (uint32_t k = 0; k < it->checked.reads.n; k++) {
			const struct item_read *r = &it->checked.reads.at[k];
			varint_put(out, check_trace_number_of(&o, m, r->item->mod));
			varint_put(out, (uint64_t)(r->item - r->item->mod->items) << 1 | (r->depth == READ_WHOLE));
			check_trace_put_hash(out, hash_read(r));
		}
	}
	vec_free(&o.at);
	m->checks_hold = true;
}

/* ---- reading ---- */

static uint64_t take_hash(struct varint_in *in)
{
	uint64_t h = 0;
	const void *p = varint_take_bytes(in, sizeof h);
	if (p)
		memcpy(&h, p, sizeof h);
	return h;
}

/* The other files of the record, if all of them are loaded and define the same names; else NULL. */
static struct module **take_others(struct frontend *f, struct varint_in *in, uint32_t *n)
{
	*n = varint_take_count(in);
	struct module **others = ARENA_ARRAY(f->session, struct module *, *n + 1);
	for (uint32_t i = 0; i < *n && in->ok; i++) {
		uint32_t len = varint_take_count(in);
		const char *path = varint_take_bytes(in, len);
		uint64_t names = take_hash(in);
		others[i] = path ? module_loaded(f, arena_strndup(f->session, path, len)) : NULL;
		if (!others[i] || others[i]->failed || check_trace_hash_names(f, others[i]) != names)
			return NULL;
	}
	return others;
}

static bool take_read(struct varint_in *in, struct module *own, struct module **others, uint32_t n, struct item_read *out)
{
	uint32_t file = varint_take_upto(in, n);
	struct module *m = file ? others[file - 1] : own;
	uint64_t item = varint_take(in), hash = take_hash(in);
	if (!in->ok || item >> 1 >= m->n_items)
		return in->ok = false;
	*out = (struct item_read){&m->items[item >> 1], item & 1 ? READ_WHOLE : READ_INTERFACE};
	return hash_read(out) == hash;
}

static bool take_item(struct frontend *f, struct varint_in *in, struct item *it, struct module **others, uint32_t n)
{
	bool same = take_hash(in) == it->tokens.lo;
	uint32_t n_reads = varint_take_count(in);
	struct item_read *reads = ARENA_ARRAY(f->session, struct item_read, n_reads + 1);
	for (uint32_t i = 0; i < n_reads && in->ok; i++)
		same = take_read(in, it->mod, others, n, &reads[i]) && same;
	if (!in->ok)
		return false;
	it->checked.reads = (struct item_reads){reads, n_reads};
	it->refresh.check = same ? CHECK_SAME_INPUTS : CHECK_UNKNOWN;
	return true;
}

void frontend_read_checks(struct frontend *f, uint32_t file, const void *record, size_t len)
{
	struct module *m = f->modules.at[file];
	struct varint_in in = {record, len ? (const unsigned char *)record + len : NULL, true};
	uint32_t n;
	if (!len || m->failed || take_hash(&in) != check_trace_hash_names(f, m))
		return;
	bool same = take_hash(&in) == m->tokens.lo;
	struct module **others = take_others(f, &in, &n);
	bool whole = others && in.ok;
	for (uint32_t i = 0; i < m->n_items && whole; i++)
		whole = take_item(f, &in, &m->items[i], others, n);
	whole = whole && in.at == in.end;
	m->checks_hold = same && whole;
	for (uint32_t i = 0; i < m->n_items && !whole; i++)
		m->items[i].refresh.check = CHECK_UNKNOWN;
}

/* A constant's value depends on the constants that it reads, and so on. Only a forged record has cycles. */
static bool verify_check(struct item *it)
{
	if (it->refresh.check != CHECK_SAME_INPUTS)
		return it->refresh.check == CHECK_VALID;
	bool same = true;
	it->refresh.check = CHECK_UNKNOWN;
	for (uint32_t i = 0; i < it->checked.reads.n && same; i++) {
		struct item *r = it->checked.reads.at[i].item;
		same = r->kind != ITEM_CONST || r->mod->std || verify_check(r);
	}
	it->refresh.check = same ? CHECK_VALID : CHECK_UNKNOWN;
	return same;
}

void frontend_verify_checks(struct frontend *f)
{
	for (uint32_t i = 0; i < f->modules.len; i++) {
		struct module *m = f->modules.at[i];
		for (uint32_t k = 0; k < m->n_items; k++)
			m->checks_hold = verify_check(&m->items[k]) && m->checks_hold;
	}
}

bool frontend_checks_recorded(const struct frontend *f, uint32_t file)
{
	const struct module *m = f->modules.at[file];
	return m->std || m->checks_hold || f->loaded.reexports;
}
