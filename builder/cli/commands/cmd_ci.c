/* trib ci init: the recipe of a CI service, from the files in recipes/. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/embed.h"
#include "base/foreign.h"
#include "base/json.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "base/utf8.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"

EMBED(recipe_github, RECIPES "/github.yml")
EMBED(recipe_gitlab, RECIPES "/gitlab.yml")
EMBED(recipe_profile, RECIPES "/profile.sh")

static const struct service {
	const char *name, *file;     /* the file: in the root of the repository */
	const char *recipe, *indent; /* indent: of shell lines */
} services[] = {
	{"github", ".github/workflows/trib.yml", recipe_github_begin, "          "},
	{"gitlab", ".gitlab-ci.yml", recipe_gitlab_begin, "      "},
};

/* The repository around the project, or the project's folder if there is none; `folder`: the project in it. */
struct place {
	const char *root, *folder;
};

static struct place ci_find_repository(struct arena *a)
{
	char *here = realpath(".", NULL);
	struct place p = {".", "."};
	struct file_stamp there;
	if (!here)
		return p;
	for (const char *dir = arena_strdup(a, here); *dir; dir = path_dir(a, dir)) {
		if (os_stamp(path_join(a, dir, ".git"), &there)) {
			const char *below = here + strlen(dir);
			p = (struct place){arena_strdup(a, dir), *below ? arena_strdup(a, below + (*below == '/')) : "."};
			break;
		}
		if (strcmp(dir, "/") == 0)
			break;
	}
	free(here);
	return p;
}

/* True if a shell, YAML and the service's expressions read nothing into the folder's name. */
static bool ci_is_plain(const char *folder)
{
	uint32_t cp;
	for (size_t n = strlen(folder); n;) {
		size_t len = utf8_decode(folder, n, &cp);
		if (cp < 0x80 ? !isalnum((int)cp) && !strchr("._-+/ ", (int)cp) : foreign_is_unsafe(cp) || len == 1)
			return false;
		folder += len;
		n -= len;
	}
	return true;
}

static void ci_put_lines(const char *text, const char *indent, struct buf *out)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		buf_printf(out, "%s%.*s\n", indent, (int)(end - text), text);
}

/* Appends the recipe with its marks replaced: @FOLDER@, @REPORT@, and the line @PROFILE@. */
static void put_recipe(const struct service *service, const struct place *p, struct buf *out)
{
	for (const char *at = service->recipe, *mark; *at; at = mark) {
		mark = at + strcspn(at, "@");
		buf_put(out, at, (size_t)(mark - at));
		if (strncmp(mark, "@FOLDER@", 8) == 0)
			json_str(&(struct json_writer){.out = out}, p->folder), mark += 8;
		else if (strncmp(mark, "@REPORT@", 8) == 0)
			buf_printf(out, "%s%sgl-code-quality-report.json", strcmp(p->folder, ".") == 0 ? "" : p->folder,
				   strcmp(p->folder, ".") == 0 ? "" : "/"),
				mark += 8;
		else if (strncmp(mark, "@PROFILE@\n", 10) == 0)
			ci_put_lines(recipe_profile_begin, service->indent, out), mark += 10;
		else if (*mark)
			buf_putc(out, *mark++);
	}
}

static enum status write_recipe(struct arena *a, const struct service *service, const struct place *p, const struct options *o,
				const struct buf *text)
{
	const char *path = o->out ? o->out : path_join(a, p->root, service->file);
	struct file_stamp there;
	if (strcmp(path, "-") == 0)
		return print_text(stdout, text), STATUS_OK;
	if (os_stamp(path, &there) && !o->force)
		return fail_usage("`%s` exists; --force replaces it, `-o -` prints the recipe", path);
	if (!os_mkdirs(path_dir(a, path)) || !os_rewrite(path, text->at, text->len))
		return fail_environment("cannot write `%s`: %s", path, strerror(errno));
	print(stdout, "trib: wrote %s; set TRIB_INSTALL in it, and commit it\n", path);
	return STATUS_OK;
}

enum status cmd_ci(const struct options *o)
{
	const struct service *s = NULL;
	for (size_t i = 0; i < sizeof services / sizeof *services; i++)
		if (strcmp(o->operands[1], services[i].name) == 0)
			s = &services[i];
	if (!s)
		return fail_usage("`%s` is no service that trib knows; write `trib ci init github` or `trib ci init gitlab`",
				  o->operands[1]);
	struct arena *a = arena_new(0);
	struct place p = ci_find_repository(a);
	struct buf text = {0};
	enum status status = STATUS_USAGE;
	if (ci_is_plain(p.folder)) {
		put_recipe(s, &p, &text);
		status = write_recipe(a, s, &p, o, &text);
	} else {
		fail_usage("a recipe cannot name the folder `%s`: rename it with letters, digits, spaces and ._-+ only", p.folder);
	}
	buf_free(&text);
	arena_free(a);
	return status;
}
