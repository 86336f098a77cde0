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

static const struct source *load(void *ctx, const char *path)
{
	char *text;
	size_t len;
	return os_read_file(path, INT32_MAX, &text, &len) ? sources_add_owned(ctx, path, text, len) : NULL;
}

enum status project_read(struct arena *session, const struct options *o, struct build_spec *out)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	const struct manifest *m = manifest_read(session, (struct frontend_host){load, sources}, "tri.build", diags);
	bool ok = diags_errors(diags) == 0 && build_spec_make(session, m, o, out, diags);
	if (!ok)
		diags_print(diags, sources, stderr, terminal_has_color(2, o->color));
	enum status s = ok ? STATUS_OK : build_diags_status(diags, o);
	diags_free(diags);
	sources_free(sources);
	return s;
}

enum status project_cache_config(struct arena *session, const struct options *o, struct cache_config *out)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct file_stamp stamp;
	const struct manifest *m = NULL;
	if (os_stamp("tri.build", &stamp))
		m = manifest_read(session, (struct frontend_host){load, sources}, "tri.build", diags);
	bool ok = diags_errors(diags) == 0 && cache_config_read(session, sources, m, o, out, diags);
	if (!ok)
		diags_print(diags, sources, stderr, terminal_has_color(2, o->color));
	enum status s = ok ? STATUS_OK : build_diags_status(diags, o);
	diags_free(diags);
	sources_free(sources);
	return s;
}

const struct manifest *project_manifest(struct arena *session)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	const struct manifest *m = manifest_read(session, (struct frontend_host){load, sources}, "tri.build", diags);
	diags_free(diags);
	sources_free(sources);
	return m;
}
