/* Annotations of CI services for the diagnostics of a build. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/report/report.h"
#include "builder/build/session/context.h"
#include "builder/manifest/options.h"

#define GITLAB_REPORT "gl-code-quality-report.json" /* the name that GitLab's documentation uses */

/* Returns the current folder relative to the checkout of the service, whose path is in the variable; "" if it is the same or elsewhere. */
static const char *folder_in(struct arena *a, const char *variable)
{
	const char *root = getenv(variable);
	char *here = realpath(".", NULL), *top = root ? realpath(root, NULL) : NULL;
	size_t n = top ? strlen(top) : 0;
	const char *folder = here && n && strncmp(here, top, n) == 0 && here[n] == '/' ? arena_strdup(a, here + n + 1) : "";
	free(here);
	free(top);
	return folder;
}

void report_annotations(struct build_context *c)
{
	struct buf text = {0};
	switch (c->request.options->annotations) {
	case ANNOTATE_NONE: break;
	case ANNOTATE_GITHUB:
		diags_print_github(c->diags, c->sources, folder_in(c->arena, "GITHUB_WORKSPACE"), &text);
		print_text(c->request.out, &text);
		break;
	case ANNOTATE_GITLAB:
		diags_print_gitlab(c->diags, c->sources, folder_in(c->arena, "CI_PROJECT_DIR"), &text);
		if (!os_rewrite(GITLAB_REPORT, text.at, text.len)) {
			diag_add(c->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`: %s", GITLAB_REPORT, strerror(errno));
			c->outcome.environment = true;
		}
		break;
	}
	buf_free(&text);
}
