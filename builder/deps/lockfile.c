/* Blocks as in the manifest, but nothing is optional and nothing is expanded:
 *     version = 1
 *     dependency NAME
 *         git = URL
 *         rev|tag|branch = TEXT      (none: the repository's default branch)
 *         commit = 40 hex digits */
#include "builder/deps/lockfile.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"

#define VERSION "1"
enum { COMMIT_DIGITS = 40 };
static const char *const kinds[] = {[GIT_REF_HEAD] = "", [GIT_REF_REV] = "rev", [GIT_REF_TAG] = "tag", [GIT_REF_BRANCH] = "branch"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const char *git_ref_text(enum git_ref kind) { return kinds[kind]; }

struct reader {
	struct arena *a;
	const struct source *s;
	struct diags *diags;
	VEC(struct lockfile_entry) entries;
	bool versioned, bad;
};
/* A line without its blanks: a word, and what stands behind it. */
struct entry_line {
	span all;
	const char *word, *rest; /* rest: behind ` = ` or a blank */
	bool indented, assigned;
};

static void damaged(struct reader *r, span at, const char *what)
{
	r->bad = true;
	diag_help(r->diags, diag_add(r->diags, DIAG_LOCK_SYNTAX, at, "%s", what),
		  "restore the committed file (`git checkout tri.lock`), or remove it: `trib update` makes it anew");
}

static void unmerged(struct reader *r, span at)
{
	r->bad = true;
	diag_help(
		r->diags, diag_add(r->diags, DIAG_LOCK_SYNTAX, at, "a merge has left both sides of a conflict here"),
		"`git checkout --ours tri.lock` (or --theirs) takes one side; the next build adds what it lacks, `trib update NAME` renews what it has");
}

static bool is_marker(const char *line)
{
	return strncmp(line, "<<<<<<<", 7) == 0 || strncmp(line, "|||||||", 7) == 0 || strncmp(line, "=======", 7) == 0 ||
	       strncmp(line, ">>>>>>>", 7) == 0;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static struct entry_line split(struct reader *r, uint32_t start, uint32_t end)
{
	const char *t = r->s->text;
	struct entry_line l = {.indented = blank(t[start])};
	while (start < end && blank(t[start]))
		start++;
	while (end > start && blank(t[end - 1]))
		end--;
	l.all = (span){r->s->id, start, end};
	uint32_t stop = start;
	while (stop < end && !blank(t[stop]) && t[stop] != '=')
		stop++;
	l.word = arena_strndup(r->a, t + start, stop - start);
	while (stop < end && blank(t[stop]))
		stop++;
	l.assigned = stop < end && t[stop] == '=';
	stop += l.assigned;
	while (stop < end && blank(t[stop]))
		stop++;
	l.rest = arena_strndup(r->a, t + stop, end - stop);
	return l;
}

static bool is_commit(const char *s) { return strspn(s, "0123456789abcdef") == COMMIT_DIGITS && !s[COMMIT_DIGITS]; }

static void read_key(struct reader *r, const struct entry_line *l)
{
	struct lockfile_entry *e = r->entries.len ? &r->entries.at[r->entries.len - 1] : NULL;
	uint32_t kind = GIT_REF_REV;
	while (kind < N_KINDS && strcmp(l->word, kinds[kind]) != 0)
		kind++;
	if (!e || !l->assigned || !*l->rest) {
		damaged(r, l->all, e ? "a line of a block reads `key = value`" : "an indented line belongs to no block");
	} else if (strcmp(l->word, "git") == 0 && !e->git) {
		e->git = l->rest;
	} else if (strcmp(l->word, "commit") == 0 && !e->commit) {
		if (!is_commit(l->rest))
			damaged(r, l->all, "a commit has 40 lower-case hex digits");
		e->commit = l->rest;
	} else if (kind < N_KINDS && e->kind == GIT_REF_HEAD) {
		e->kind = (enum git_ref)kind;
		e->ref = l->rest;
	} else {
		damaged(r, l->all, "a block has `git`, `commit`, and one of `rev`, `tag` and `branch`, each once");
	}
}

static void end_block(struct reader *r)
{
	const struct lockfile_entry *e = r->entries.len ? &r->entries.at[r->entries.len - 1] : NULL;
	if (e && (!e->git || !e->commit) && !r->bad)
		damaged(r, e->at, e->git ? "the block has no `commit`" : "the block has no `git`");
}

static void read_top(struct reader *r, const struct entry_line *l)
{
	if (strcmp(l->word, "version") == 0 && l->assigned && !r->versioned) {
		r->versioned = true;
		if (strcmp(l->rest, VERSION) != 0)
			damaged(r, l->all, "this version of trib reads only `version = " VERSION "` of the file");
		return;
	}
	if (strcmp(l->word, "dependency") != 0 || l->assigned || !*l->rest) {
		damaged(r, l->all, "a line that is not indented reads `version = " VERSION "` or `dependency NAME`");
		return;
	}
	end_block(r);
	for (uint32_t i = 0; i < r->entries.len; i++)
		if (strcmp(r->entries.at[i].name, l->rest) == 0)
			damaged(r, l->all, "there are two blocks of that name");
	struct lockfile_entry e = {.name = l->rest, .ref = "", .at = l->all};
	vec_push(&r->entries, e);
}

struct lockfile *lockfile_read(struct arena *a, const struct source *s, struct diags *diags)
{
	struct reader r = {.a = a, .s = s, .diags = diags};
	for (uint32_t at = 0; at < s->len && !r.bad;) {
		uint32_t end = source_line_end(s, at);
		if (memchr(s->text + at, 0, end - at)) {
			damaged(&r, (span){s->id, at, end}, "a line holds a zero byte");
			break;
		}
		struct entry_line l = split(&r, at, end);
		if (l.all.start < l.all.end && s->text[l.all.start] != '#') {
			if (is_marker(s->text + l.all.start))
				unmerged(&r, l.all);
			else if (l.indented)
				read_key(&r, &l);
			else
				read_top(&r, &l);
		}
		at = end + 1;
	}
	end_block(&r);
	if (!r.bad && !r.versioned)
		damaged(&r, (span){s->id, 0, 0}, "the file has no `version`");
	struct lockfile *lock = ARENA_NEW(a, struct lockfile);
	lock->n = r.entries.len;
	lock->entries = ARENA_ARRAY(a, struct lockfile_entry, r.entries.len + 1);
	for (uint32_t i = 0; i < r.entries.len; i++)
		lock->entries[i] = r.entries.at[i];
	vec_free(&r.entries);
	return r.bad ? NULL : lock;
}

const struct lockfile_entry *lockfile_find(const struct lockfile *l, const char *name)
{
	for (uint32_t i = 0; l && i < l->n; i++)
		if (strcmp(l->entries[i].name, name) == 0)
			return &l->entries[i];
	return NULL;
}

void lockfile_print(const struct lockfile_entry *entries, uint32_t n, struct buf *out)
{
	buf_puts(out,
		 "# Written by trib: the commits of the dependencies. Commit this file; `trib update` renews it.\nversion = " VERSION "\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct lockfile_entry *e = &entries[i];
		buf_printf(out, "\ndependency %s\n    git = %s\n", e->name, e->git);
		if (e->kind != GIT_REF_HEAD)
			buf_printf(out, "    %s = %s\n", kinds[e->kind], e->ref);
		buf_printf(out, "    commit = %s\n", e->commit);
	}
}
