#include "builder/build/session/stores.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "base/diag.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/session/context.h"
#include "builder/build/session/folders.h"
#include "builder/build/session/session.h"
#include "builder/cache/cache.h"
#include "builder/cache/config.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/outputs.h"
#include "builder/store/inputs.h"
#include "builder/store/key.h"
#include "builder/store/store.h"

#define PROJECT_LOCK PROJECT_FOLDER "/lock"

enum { LOCK_POLL_MS = 5 };

void stores_open_existing(struct build_context *c) { c->stores.project = store_open(PROJECT_STORE, false, &c->stores.warnings); }

/* The first path below PROJECT_FOLDER that is a link out of the project; NULL: there is none, or the settings allow it. */
static const char *find_link_outside(struct build_context *c)
{
	static const char *const paths[] = {PROJECT_FOLDER, PROJECT_STORE, PROJECT_FRAGMENTS, PROJECT_LOCK, LAZY_FOLDER};
	struct cache_config config;
	struct stat st;
	uint32_t n = sizeof paths / sizeof *paths, i = 0;
	while (i < n && !(lstat(paths[i], &st) == 0 && S_ISLNK(st.st_mode) && !outputs_is_inside(c->arena, paths[i])))
		i++;
	if (i == n)
		return NULL;
	struct diags *ignored = diags_new(0);
	bool allowed = cache_config_read(c->arena, c->sources, NULL, c->request.options, &config, ignored) &&
		       config.at[SETTING_OUT_OUTSIDE].number;
	diags_free(ignored);
	return allowed ? NULL : paths[i];
}

/* Polls the lock, because the session may stop the build meanwhile. */
bool stores_lock(struct build_context *c)
{
	struct stores *s = &c->stores;
	if (c->session->locked || find_link_outside(c) || !os_mkdirs(PROJECT_FOLDER))
		return false;
	s->lock = open(PROJECT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (s->lock < 0 || flock(s->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) /* some file systems have no locks */
		return false;
	if (request_is_chatty(&c->request))
		print(c->request.err, "trib: waiting for another build of this project\n");
	while (flock(s->lock, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR) && !context_is_stopped(c))
		poll(NULL, 0, LOCK_POLL_MS);
	stores_close_project(s);
	stores_open_existing(c);
	return true;
}

static bool identify_compiler(struct build_context *c)
{
	struct stores *s = &c->stores;
	s->compiler = key_compiler(c->arena, s->project, c->inputs, &s->generator);
	c->own_inputs = inputs_count(c->inputs);
	if (hash_is_zero(c->session->compiler))
		c->session->compiler = s->compiler;
	if (hash_eq(c->session->compiler, s->compiler))
		return true;
	/* fragments would be stored under the key of a compiler that did not make them */
	diag_add(c->diags, DIAG_MODULE, SPAN_NONE, "trib itself was replaced while it ran: start it again");
	c->outcome.environment = true;
	return false;
}

bool stores_create(struct build_context *c)
{
	const char *outside = c->request.single ? NULL : find_link_outside(c);
	if (outside) {
		struct diag *g = diag_add(c->diags, DIAG_FILE_WRITE, SPAN_NONE,
					  "`%s` is a link that leads out of the project, or to nothing", outside);
		diag_help(c->diags, g, "remove the link, or `trib config set build.out_outside true` for all your projects");
		return false;
	}
	if (!c->stores.project && !c->request.single)
		c->stores.project = store_open(PROJECT_STORE, true, &c->stores.warnings);
	return identify_compiler(c);
}

bool stores_open_cache(struct build_context *c, const struct build_spec *spec)
{
	struct cache_config config;
	if (!cache_config_read(c->arena, c->sources, spec->manifest, c->request.options, &config, c->diags))
		return false;
	if (!config.at[SETTING_OUT_OUTSIDE].number && !outputs_check_inside(c->arena, spec->models, spec->n_models, c->diags))
		return false;
	if (spec->no_cache || !config.at[SETTING_ENABLED].number || options_print_stage(c->request.options))
		return true;
	struct cache_options o = cache_config_options(c->arena, &config);
	c->stores.cache = cache_open(&o, &c->stores.warnings);
	return true;
}

void stores_close_cache(struct stores *s)
{
	cache_close(s->cache, &s->warnings);
	s->cache = NULL;
}

void stores_close_project(struct stores *s)
{
	store_close(s->project, &s->warnings);
	s->project = NULL;
}
