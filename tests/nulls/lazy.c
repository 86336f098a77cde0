/* Models that are not built. */
#include "nulls.h"
#include "tri_lazy.h"

void lazy_open(struct subject *s)
{
	GIVES_NULL(TRI_ERR_ARGUMENT, tri_open_lazy(NULL, s->args[1], NULL, err));
	OK("tri_open_lazy.folder");
	GIVES_NULL(TRI_ERR_ARGUMENT, tri_open_lazy(s->args[0], NULL, NULL, err));
	OK("tri_open_lazy.name");
	GIVES_NULL(TRI_ERR_COMPILE, tri_open_lazy(s->args[0], "nothing", NULL, err));
	OK("tri_open_lazy.err");
	tri_lazy_model *m = tri_open_lazy(s->args[0], s->args[1], NULL, NULL);
	CHECK(m && m->desc && m->model);
	OK("tri_open_lazy.opt");
	tri_close_lazy(m);
	tri_close_lazy(NULL);
	OK("tri_close_lazy.m");
}

void lazy_members(struct subject *s)
{
	tri_lazy_model *m = tri_open_lazy(s->args[0], s->args[1], NULL, &s->err);
	CHECK(m);
	m->desc = NULL;
	tri_close_lazy(m);
	OK("tri_lazy_model.desc");
	m = tri_open_lazy(s->args[0], s->args[1], NULL, &s->err);
	CHECK(m);
	struct tri_model *model = m->model;
	m->model = NULL;
	m->desc->close(model);
	tri_close_lazy(m);
	OK("tri_lazy_model.model");
}
