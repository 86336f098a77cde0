/* C headers: of a model's entries, and of live reload. */
#include "backend/link/backend.h"
#include "backend/link/model/model.h"
#include "backend/link/model/runtime_objects.h"

static bool put_header(const struct backend_model *m, struct backend_output *out, const char **error)
{
	(void)error;
	model_header(m->in, m->info, &out->files[0].text);
	return true;
}

static bool put_live_header(const struct backend_model *m, struct backend_output *out, const char **error)
{
	(void)m, (void)error;
	buf_printf(&out->files[0].text, "%s\n%s", runtime_header(), runtime_live_header());
	return true;
}

const struct backend header_backend = {.name = "header", .title = "C", .stage = BACKEND_HIR, .assemble = put_header};
const struct backend live_backend = {.name = "live", .title = "live reload", .stage = BACKEND_HIR, .assemble = put_live_header};
