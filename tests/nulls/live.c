/* Live reload. */
#include "nulls.h"
#define TRI_LIVE_IMPLEMENTATION
#include "tri_live.h"

static tri_live *live_opened(struct subject *s)
{
	tri_live *live = tri_live_open(s->args[0], NULL, &s->err);
	CHECK(live);
	return live;
}

void live_open(struct subject *s)
{
	GIVES_NULL(TRI_ERR_ARGUMENT, tri_live_open(NULL, NULL, err));
	OK("tri_live_open.path");
	tri_live *live = tri_live_open(s->args[0], NULL, NULL);
	CHECK(live && tri_live_reload(live, NULL) == 0);
	OK("tri_live_open.options");
	OK("tri_live_open.err");
	OK("tri_live_reload.err");
	CHECK(tri_live_reload(NULL, &s->err) == -1 && *s->err.message && tri_live_reload(NULL, NULL) == -1);
	OK("tri_live_reload.live");
	CHECK(tri_live_generation(NULL) == 0);
	OK("tri_live_generation.live");
	tri_live_close(NULL);
	tri_live_close(live);
	OK("tri_live_close.live");
}

void live_run(struct subject *s)
{
	tri_live *live = live_opened(s);
	net_io io = tensors();
	FAILS(TRI_ERR_ARGUMENT, tri_live_run(NULL, 0, &io.x, NULL, err));
	OK("tri_live_run.live");
	FAILS(TRI_ERR_ARGUMENT, tri_live_run(live, 0, NULL, NULL, err));
	OK("tri_live_run.io");
	CHECK(tri_live_run(live, 0, &io.x, NULL, NULL) == TRI_OK);
	OK("tri_live_run.generation");
	OK("tri_live_run.err");
	tri_live_close(live);
}

void live_use(struct subject *s)
{
	tri_live *live = live_opened(s);
	tri_live_use use, empty = {NULL, NULL, 0, NULL};
	FAILS(TRI_ERR_ARGUMENT, tri_live_begin(NULL, &use, err));
	OK("tri_live_begin.live");
	FAILS(TRI_ERR_ARGUMENT, tri_live_begin(live, NULL, err));
	OK("tri_live_begin.use");
	CHECK(tri_live_begin(live, &use, NULL) == TRI_OK);
	OK("tri_live_begin.err");
	tri_live_end(NULL, &use);
	OK("tri_live_end.live");
	tri_live_end(live, NULL);
	OK("tri_live_end.use");
	tri_live_end(live, &empty);
	OK("tri_live_use.library");
	struct tri_model *m = use.model;
	use.desc = NULL;
	use.model = NULL;
	tri_live_end(live, &use);
	s->desc->close(m);
	OK("tri_live_use.model");
	OK("tri_live_use.desc");
	tri_live_close(live);
}
