/* Blocks as in the manifest, but without optional keys and variables:
 *     version = 1
 *     dependency NAME
 *         git = URL
 *         rev|tag|branch = TEXT      (absent: the repository's default branch)
 *         commit = 40 hex digits */
#include "builder/deps/lockfile.h"
#include <stddef.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"

#define VERSION "1"
enum { COMMIT_DIGITS = 40 };

/* The keys of a block, in the order in which they are written. */
static const struct key {
	const char *text;
	size_t member;     /* of lockfile_entry: a const char * */
	enum git_ref kind; /* GIT_REF_HEAD: the key of every block; else that of entries of this kind */
} keys[] = {
	{"git", offsetof(struct lockfile_entry, source.git), GIT_REF_HEAD},
	{"rev", offsetof(struct lockfile_entry, source.ref), GIT_REF_REV},
	{"tag", offsetof(struct lockfile_entry, source.ref), GIT_REF_TAG},
	{"branch", offsetof(struct lockfile_entry, source.ref), GIT_REF_BRANCH},
	{"commit", offsetof(struct lockfile_entry, commit), GIT_REF_HEAD},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static const char **member(struct lockfile_entry *e, const struct key *k) { return (const char **)((char *)e + k->member); }

const char *git_ref_text(enum git_ref kind)
{
	for (uint32_t i = 0; kind != GIT_REF_HEAD && i < N_KEYS; i++)
		if (keys[i].kind == kind)
			return keys[i].text;
	return "";
}

bool git_source_equal(const struct git_source *a, const struct git_source *b)
{
	return strcmp(a->git, b->git) == 0 && a->kind == b->kind && strcmp(a->ref, b->ref) == 0;
}

/* ---- reading ---- */

struct lock_reader {
	struct arena *a;
	const struct source *s;
	struct diags *diags;
	VEC(struct lockfile_entry) entries;
	bool has_version, failed;
};
/* A line without the blanks around it: `WORD = REST` or `WORD REST`. */
struct entry_line {
	span all;
	const char *word, *rest;
	bool indented, assigned;
};

static void report_syntax(struct lock_reader *r, span at, const char *what)
{
	r->failed = true;
	diag_help(r->diags, diag_add(r->diags, DIAG_LOCK_SYNTAX, at, "%s", what),
		  "restore the committed file with `git checkout tri.lock`, or remove it and run `trib update`");
}

static void report_merge_conflict(struct lock_reader *r, span at)
{
	r->failed = true;
	diag_help(r->diags, diag_add(r->diags, DIAG_LOCK_SYNTAX, at, "tri.lock has an unresolved merge conflict"),
		  "choose a side with `git checkout --ours tri.lock` or `--theirs`, then build: missing entries are added; "
		  "`trib update NAME` updates an entry");
}

static bool is_conflict_marker(const char *line)
{
	return strncmp(line, "<<<<<<<", 7) == 0 || strncmp(line, "|||||||", 7) == 0 || strncmp(line, "=======", 7) == 0 ||
	       strncmp(line, ">>>>>>>", 7) == 0;
}

static bool lockfile_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static struct entry_line split_line(struct lock_reader *r, uint32_t start, uint32_t end)
{
	const char *t = r->s->text;
	struct entry_line l = {.indented = lockfile_is_blank(t[start])};
	while (start < end && lockfile_is_blank(t[start]))
		start++;
	while (end > start && lockfile_is_blank(t[end - 1]))
		end--;
	l.all = (span){r->s->id, start, end};
	uint32_t stop = start;
	while (stop < end && !lockfile_is_blank(t[stop]) && t[stop] != '=')
		stop++;
	l.word = arena_strndup(r->a, t + start, stop - start);
	while (stop < end && lockfile_is_blank(t[stop]))
		stop++;
	l.assigned = stop < end && t[stop] == '=';
	stop += l.assigned;
	while (stop < end && lockfile_is_blank(t[stop]))
		stop++;
	l.rest = arena_strndup(r->a, t + stop, end - stop);
	return l;
}

static bool is_commit(const char *s) { return strspn(s, "0123456789abcdef") == COMMIT_DIGITS && !s[COMMIT_DIGITS]; }

static void lockfile_read_key(struct lock_reader *r, const struct entry_line *l)
{
	struct lockfile_entry *e = r->entries.len ? &r->entries.at[r->entries.len - 1] : NULL;
	uint32_t k = 0;
	while (k < N_KEYS && strcmp(l->word, keys[k].text) != 0)
		k++;
	if (!e || !l->assigned || !*l->rest) {
		report_syntax(r, l->all, e ? "expected `key = value`" : "this indented line belongs to no block");
	} else if (k == N_KEYS || *member(e, &keys[k])) {
		report_syntax(r, l->all, "a block has `git`, `commit`, and at most one of `rev`, `tag` and `branch`, each once");
	} else {
		*member(e, &keys[k]) = l->rest;
		if (keys[k].kind != GIT_REF_HEAD)
			e->source.kind = keys[k].kind;
		if (member(e, &keys[k]) == &e->commit && !is_commit(e->commit))
			report_syntax(r, l->all, "a commit has 40 lower-case hex digits");
	}
}

static void end_block(struct lock_reader *r)
{
	struct lockfile_entry *e = r->entries.len ? &r->entries.at[r->entries.len - 1] : NULL;
	if (!e || r->failed)
		return;
	if (!e->source.git || !e->commit)
		report_syntax(r, e->at, e->source.git ? "the block has no `commit`" : "the block has no `git`");
	if (!e->source.ref)
		e->source.ref = "";
}

static void lockfile_read_unindented_line(struct lock_reader *r, const struct entry_line *l)
{
	if (strcmp(l->word, "version") == 0 && l->assigned && !r->has_version) {
		r->has_version = true;
		if (strcmp(l->rest, VERSION) != 0)
			report_syntax(r, l->all, "this version of trib reads only lock files with `version = " VERSION "`");
		return;
	}
	if (strcmp(l->word, "dependency") != 0 || l->assigned || !*l->rest) {
		report_syntax(r, l->all, "expected `version = " VERSION "` or `dependency NAME`");
		return;
	}
	end_block(r);
	if (lockfile_find(&(struct lockfile){r->entries.at, r->entries.len}, l->rest))
		report_syntax(r, l->all, "there are two blocks of this name");
	vec_push(&r->entries, ((struct lockfile_entry){.name = l->rest, .at = l->all}));
}

static void lockfile_read_line(struct lock_reader *r, uint32_t start, uint32_t end)
{
	if (memchr(r->s->text + start, 0, end - start)) {
		report_syntax(r, (span){r->s->id, start, end}, "the line has a NUL byte");
		return;
	}
	struct entry_line l = split_line(r, start, end);
	const char *first = r->s->text + l.all.start;
	if (l.all.start == l.all.end || *first == '#')
		return;
	if (is_conflict_marker(first))
		report_merge_conflict(r, l.all);
	else if (l.indented)
		lockfile_read_key(r, &l);
	else
		lockfile_read_unindented_line(r, &l);
}

struct lockfile *lockfile_read(struct arena *a, const struct source *s, struct diags *diags)
{
	struct lock_reader r = {.a = a, .s = s, .diags = diags};
	for (uint32_t at = 0, end; at < s->len && !r.failed; at = end + 1) {
		end = source_line_end(s, at);
		lockfile_read_line(&r, at, end);
	}
	end_block(&r);
	if (!r.failed && !r.has_version)
		report_syntax(&r, (span){s->id, 0, 0}, "the file has no `version`");
	struct lockfile *lock = ARENA_NEW(a, struct lockfile);
	lock->n = r.entries.len;
	lock->entries = ARENA_ARRAY(a, struct lockfile_entry, r.entries.len + 1);
	for (uint32_t i = 0; i < r.entries.len; i++)
		lock->entries[i] = r.entries.at[i];
	vec_free(&r.entries);
	return r.failed ? NULL : lock;
}

const struct lockfile_entry *lockfile_find(const struct lockfile *l, const char *name)
{
	for (uint32_t i = 0; l && i < l->n; i++)
		if (strcmp(l->entries[i].name, name) == 0)
			return &l->entries[i];
	return NULL;
}

/* ---- writing ---- */

void lockfile_print(const struct lockfile_entry *entries, uint32_t n, struct buf *out)
{
	buf_puts(out,
		 "# Written by trib: the commits of the dependencies. Commit this file; `trib update` renews it.\nversion = " VERSION "\n");
	for (uint32_t i = 0; i < n; i++) {
		struct lockfile_entry e = entries[i];
		buf_printf(out, "\ndependency %s\n", e.name);
		for (uint32_t k = 0; k < N_KEYS; k++)
			if (keys[k].kind == GIT_REF_HEAD || keys[k].kind == e.source.kind)
				buf_printf(out, "    %s = %s\n", keys[k].text, *member(&e, &keys[k]));
	}
}
