/* A commit alone changes what the library says about its origin. So the files that name the commit are inputs of the build: .git in this
 * folder or one above, HEAD, the ref that HEAD points to, and packed-refs. The git module interprets them, only when a library is
 * linked. */
#include "builder/build/reuse/repository.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/git/git.h"
#include "builder/module.h"
#include "builder/store/inputs.h"

enum { MAX_LEVELS = 40 };

struct finder {
	struct repository *repo;
	struct arena *a;
	struct inputs *in;
};

/* The text of a small file without its line end; NULL if absent. Recorded as an input. */
static const char *repository_read_line(struct finder *f, const char *path)
{
	char *text;
	size_t len;
	if (!inputs_read(f->in, path, &text, &len))
		return NULL;
	f->repo->head = hash_combine(f->repo->head, hash_bytes(text, len));
	char *copy = arena_strndup(f->a, text, strcspn(text, "\r\n"));
	free(text);
	return copy;
}

static void repository_read_head(struct finder *f, const char *git)
{
	const char *head = repository_read_line(f, path_join(f->a, git, "HEAD"));
	const char *common = repository_read_line(f, path_join(f->a, git, "commondir")); /* of a linked work tree */
	const char *refs = common ? path_normal(f->a, path_join(f->a, git, common)) : git;
	if (head && strncmp(head, "ref: ", 5) == 0)
		repository_read_line(f, path_join(f->a, refs, head + 5));
	repository_read_line(f, path_join(f->a, refs, "packed-refs"));
	f->repo->found = head != NULL;
}

static size_t folder_depth(void)
{
	char *here = getcwd(NULL, 0);
	size_t depth = 0;
	for (const char *s = here; s && *s; s++)
		depth += *s == '/';
	free(here);
	return depth;
}

void repository_find(struct repository *r, struct arena *a, struct inputs *in)
{
	struct finder f = {r, a, in};
	const char *dir = "";
	size_t depth = folder_depth();
	r->head = (hash128){0, 0};
	for (size_t i = 0; i <= depth && i < MAX_LEVELS; i++, dir = arena_printf(a, "../%s", dir)) {
		const char *git = arena_printf(a, "%s.git", dir);
		if (access(path_join(a, git, "HEAD"), F_OK) == 0) {
			repository_read_head(&f, git);
			return;
		}
		const char *link = repository_read_line(&f, git);
		if (link && strncmp(link, "gitdir: ", 8) == 0) {
			repository_read_head(&f, path_join(a, *dir ? dir : ".", link + 8));
			return;
		}
	}
}

/* True for files that a repository may track. */
static bool is_tracked(const struct input *in)
{
	return in->kind == INPUT_FILE && in->path[0] != '/' && !strstr(in->path, ".git") && strncmp(in->path, ".trib/", 6) != 0 &&
	       !hash_is_zero(in->content);
}

void repository_describe(struct repository *r, const struct inputs *in)
{
	const char *error;
	struct arena *scratch = arena_new(0);
	const struct git_api *api = module_open(scratch, "git", GIT_ENTRY, GIT_ABI, &error);
	const char **files = ARENA_ARRAY(scratch, const char *, inputs_count(in) + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < inputs_count(in); i++)
		if (is_tracked(inputs_at(in, i)))
			files[n++] = inputs_at(in, i)->path;
	if (!api || !api->describe(".", files, n, r->commit, &r->dirty))
		r->commit[0] = 0;
	r->is_described = true;
	arena_free(scratch);
}
