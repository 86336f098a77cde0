#include "builder/cli/project.h"
#include <stdio.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "base/terminal.h"
#include "builder/cache/config.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"

static const struct source *cli_project_load(void *ctx, const char *path)
{
	char *text;
	size_t len;
	return os_read_file(path, INT32_MAX, &text, &len) ? sources_add_owned(ctx, path, text, len) : NULL;
}

/* A manifest that is being read. */
struct manifest_reader {
	struct sources *sources;
	struct diags *diags;
};

static struct manifest_reader reader_new(void) { return (struct manifest_reader){sources_new(), diags_new(0)}; }

static const struct manifest *cli_project_read_manifest(struct manifest_reader *r, struct arena *a)
{
	return manifest_read(a, (struct frontend_host){cli_project_load, r->sources}, "tri.build", r->diags);
}

/* Prints the errors if it failed, and frees everything. */
static enum status reader_end(struct manifest_reader *r, bool ok, const struct options *o)
{
	if (!ok)
		diags_print(r->diags, r->sources, stderr, terminal_has_color(2, o->color));
	enum status s = ok ? STATUS_OK : build_diags_status(r->diags, o);
	diags_free(r->diags);
	sources_free(r->sources);
	return s;
}

enum status project_read(struct arena *session, const struct options *o, struct build_spec *out)
{
	struct manifest_reader r = reader_new();
	const struct manifest *m = cli_project_read_manifest(&r, session);
	return reader_end(&r, diags_errors(r.diags) == 0 && build_spec_make(session, m, o, out, r.diags), o);
}

enum status project_cache_config(struct arena *session, const struct options *o, struct cache_config *out)
{
	struct manifest_reader r = reader_new();
	struct file_stamp stamp;
	const struct manifest *m = os_stamp("tri.build", &stamp) ? cli_project_read_manifest(&r, session) : NULL;
	return reader_end(&r, diags_errors(r.diags) == 0 && cache_config_read(session, r.sources, m, o, out, r.diags), o);
}

const struct manifest *project_manifest(struct arena *session)
{
	struct manifest_reader r = reader_new();
	const struct manifest *m = cli_project_read_manifest(&r, session);
	reader_end(&r, true, NULL);
	return m;
}
