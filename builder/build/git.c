/* A new commit alone changes the descriptor's provenance, so what names the commit are inputs of the build: .git in this folder or one above, HEAD, the
 * ref that HEAD points to, and packed-refs. Reading those few files needs no library; what they mean is the git module's business, at link time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/build/state.h"
#include "builder/git/git.h"
#include "builder/module.h"

enum { MAX_LEVELS = 40 };

/* The text of a small file without its line end, in the session; NULL if absent. Recorded as an input. */
static const char *note_text(struct build *b, const char *path)
{
	char *text;
	size_t len;
	if (!inputs_read(b->inputs, path, &text, &len))
		return NULL;
	b->head = hash_combine(b->head, hash_bytes(text, len));
	char *copy = arena_strndup(b->session, text, strcspn(text, "\r\n"));
	free(text);
	return copy;
}

static void note_head(struct build *b, const char *git)
{
	struct arena *a = b->session;
	const char *head = note_text(b, path_join(a, git, "HEAD"));
	const char *common = note_text(b, path_join(a, git, "commondir")); /* of a linked work tree */
	const char *refs = common ? path_normal(a, path_join(a, git, common)) : git;
	if (head && strncmp(head, "ref: ", 5) == 0)
		note_text(b, path_join(a, refs, head + 5));
	note_text(b, path_join(a, refs, "packed-refs"));
	b->in_repository = head != NULL;
}

bool build_note_repository(struct build *b)
{
	struct arena *a = b->session;
	const char *dir = "";
	char *here = getcwd(NULL, 0);
	size_t depth = 0;
	b->head = (hash128){0, 0};
	for (const char *s = here; s && *s; s++)
		depth += *s == '/';
	free(here);
	for (size_t i = 0; i <= depth && i < MAX_LEVELS; i++, dir = arena_printf(a, "../%s", dir)) {
		const char *git = arena_printf(a, "%s.git", dir);
		if (access(path_join(a, git, "HEAD"), F_OK) == 0) {
			note_head(b, git);
			break;
		}
		const char *link = note_text(b, git);
		if (link && strncmp(link, "gitdir: ", 8) == 0) {
			note_head(b, path_join(a, *dir ? dir : ".", link + 8));
			break;
		}
	}
	return true;
}

void build_describe_commit(struct build *b)
{
	const char *error;
	struct arena *scratch = arena_new(0);
	const struct git_api *api = module_open(scratch, "git", GIT_ENTRY, GIT_ABI, &error);
	const char **files = ARENA_ARRAY(scratch, const char *, inputs_count(b->inputs) + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < inputs_count(b->inputs); i++) {
		const struct input *in = inputs_at(b->inputs, i);
		if (in->kind == INPUT_FILE && in->path[0] != '/' && !strstr(in->path, ".git") && strncmp(in->path, ".trib/", 6) != 0 &&
		    !hash_is_zero(in->content))
			files[n++] = in->path;
	}
	if (!api || !api->describe(".", files, n, b->commit, &b->dirty))
		b->commit[0] = 0;
	b->asked_git = true;
	arena_free(scratch);
}
