/* The functions of a library, by their names and in its descriptor. */
#include "nulls.h"

static float x_data[8], out_data[3];

net_io tensors(void) { return (net_io){.x = {x_data, {1, 8}, 2, TRI_FLOAT32}, .out = {out_data, {1, 3}, 2, TRI_FLOAT32}}; }

static net *opened(struct subject *s)
{
	net *m = s->open(NULL, &s->err);
	CHECK(m);
	return m;
}

static const tri_options bad_options = {.size = sizeof bad_options, .n_capacities = 1};

void model_open(struct subject *s)
{
	net *m = s->open(NULL, NULL);
	CHECK(m);
	s->close(m);
	OK("NAME_open.opt");
	OK("tri_model_desc.open.opt");
	GIVES_NULL(TRI_ERR_ARGUMENT, s->open(&bad_options, err));
	GIVES_NULL(TRI_ERR_ARGUMENT, s->desc->open(&bad_options, err));
	OK("NAME_open.err");
	OK("tri_model_desc.open.err");
	OK("tri_options.capacities");
}

void model_capacity(struct subject *s)
{
	const tri_capacity c = {NULL, 5};
	const tri_options o = {.size = sizeof o, .capacities = &c, .n_capacities = 1};
	GIVES_NULL(TRI_ERR_ARGUMENT, s->open(&o, err));
	OK("tri_capacity.name");
}

void model_options(struct subject *s)
{
	const tri_options o = {.size = sizeof o};
	net_io io = tensors();
	net *m = s->open(&o, &s->err);
	CHECK(m && s->run(m, &io, &s->err) == TRI_OK);
	s->close(m);
	OK("tri_options.device");
	OK("tri_options.weights");
	OK("tri_options.profile");
	OK("tri_options.profile_user");
}

static void ignore_event(void *user, const tri_profile_event *event)
{
	struct subject *s = user;
	CHECK(event->unit);
}

void model_event(struct subject *s)
{
	const tri_options o = {.size = sizeof o, .profile = ignore_event, .profile_user = s};
	net_io io = tensors();
	net *m = s->open(&o, &s->err);
	CHECK(m && s->run(m, &io, &s->err) == TRI_OK);
	s->close(m);
	OK("tri_options.profile.event");
	OK("tri_options.profile.user");
	OK("tri_profile_event.unit");
}

void model_run(struct subject *s)
{
	net *m = opened(s);
	struct tri_model *same = (struct tri_model *)m;
	net_io io = tensors();
	FAILS(TRI_ERR_ARGUMENT, s->run(NULL, &io, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->run(NULL, 0, &io.x, err));
	OK("NAME_run.m");
	OK("tri_model_desc.run.m");
	FAILS(TRI_ERR_ARGUMENT, s->run(m, NULL, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->run(same, 0, NULL, err));
	OK("NAME_run.io");
	OK("tri_model_desc.run.io");
	CHECK(s->run(m, &io, NULL) == TRI_OK && s->desc->run(same, 0, &io.x, NULL) == TRI_OK);
	OK("NAME_run.err");
	OK("tri_model_desc.run.err");
	io.x.data = NULL;
	FAILS(TRI_ERR_ARGUMENT, s->run(m, &io, err));
	io = tensors();
	io.out.data = NULL;
	FAILS(TRI_ERR_ARGUMENT, s->run(m, &io, err));
	OK("tri_tensor.data");
	s->close(m);
}

static _Atomic int ended; /* the code of a run, and 1; 0: none has ended */

static void note_end(void *user, const tri_error *err)
{
	if (!user)
		ended = err ? 1 + err->code : -1;
}

static int code_of_run(void)
{
	while (!ended)
		continue;
	int code = ended - 1;
	ended = 0;
	return code;
}

/* An error in the tensors comes to `done`. */
void model_run_async(struct subject *s)
{
	net *m = opened(s);
	struct tri_model *same = (struct tri_model *)m;
	net_io io = tensors();
	FAILS(TRI_ERR_ARGUMENT, s->run_async(NULL, &io, note_end, NULL, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->run_async(NULL, 0, &io.x, note_end, NULL, err));
	OK("NAME_run_async.m");
	OK("tri_model_desc.run_async.m");
	FAILS(TRI_ERR_ARGUMENT, s->run_async(m, &io, NULL, NULL, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->run_async(same, 0, &io.x, NULL, NULL, err));
	OK("NAME_run_async.done");
	OK("tri_model_desc.run_async.done");
	CHECK(s->run_async(m, NULL, note_end, NULL, &s->err) == TRI_OK && code_of_run() == TRI_ERR_ARGUMENT);
	CHECK(s->desc->run_async(same, 0, NULL, note_end, NULL, &s->err) == TRI_OK && code_of_run() == TRI_ERR_ARGUMENT);
	OK("NAME_run_async.io");
	OK("tri_model_desc.run_async.io");
	CHECK(s->run_async(m, &io, note_end, NULL, NULL) == TRI_OK && code_of_run() == TRI_OK);
	CHECK(s->desc->run_async(same, 0, &io.x, note_end, NULL, NULL) == TRI_OK && code_of_run() == TRI_OK);
	OK("NAME_run_async.user");
	OK("tri_model_desc.run_async.user");
	OK("NAME_run_async.err");
	OK("tri_model_desc.run_async.err");
	OK("tri_done.user");
	OK("tri_done.err");
	s->close(m);
}

void model_close(struct subject *s)
{
	s->close(NULL);
	s->desc->close(NULL);
	OK("NAME_close.m");
	OK("tri_model_desc.close.m");
}

void model_device(struct subject *s)
{
	net *m = opened(s);
	CHECK(!s->device(NULL) && !s->desc->device(NULL));
	OK("NAME_device.m");
	OK("tri_model_desc.device.m");
	const tri_device *d = s->device(m);
	CHECK(d && d == s->desc->device((struct tri_model *)m));
	FILLED(tri_device, d, name, 1);
	FILLED(tri_device, d, why, 1);
	FILLED(tri_device, d, desc, 1);
	s->close(m);
}

void model_reset(struct subject *s)
{
	net *m = opened(s);
	FAILS(TRI_ERR_ARGUMENT, s->reset(NULL, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->reset(NULL, err));
	OK("NAME_reset.m");
	OK("tri_model_desc.reset.m");
	CHECK(s->reset(m, NULL) == TRI_OK && s->desc->reset((struct tri_model *)m, NULL) == TRI_OK);
	OK("NAME_reset.err");
	OK("tri_model_desc.reset.err");
}

/* Saving and loading: of the generated functions, or of those in the descriptor. */
static void model_states(struct subject *s, __typeof__(&net_state_save) save, __typeof__(&net_state_load) load, const char *name)
{
	net *m = opened(s);
	char data[4096], what[80];
	uint64_t size = sizeof data, wanted = 0;
#define STATES_OK(of)                                          \
	do {                                                   \
		snprintf(what, sizeof what, "%s%s", name, of); \
		OK(what);                                      \
	} while (0)
	FAILS(TRI_ERR_ARGUMENT, save(NULL, data, &size, err));
	STATES_OK("state_save.m");
	FAILS(TRI_ERR_ARGUMENT, save(m, data, NULL, err));
	STATES_OK("state_save.size");
	CHECK(save(m, NULL, &wanted, NULL) == TRI_OK && wanted > 0 && wanted <= sizeof data);
	STATES_OK("state_save.to");
	CHECK(save(m, data, &size, NULL) == TRI_OK && size == wanted);
	STATES_OK("state_save.err");
	FAILS(TRI_ERR_ARGUMENT, load(NULL, data, size, err));
	STATES_OK("state_load.m");
	FAILS(TRI_ERR_ARGUMENT, load(m, NULL, size, err));
	FAILS(TRI_ERR_ARGUMENT, load(m, NULL, 0, err));
	STATES_OK("state_load.from");
	CHECK(load(m, data, size, NULL) == TRI_OK);
	STATES_OK("state_load.err");
#undef STATES_OK
	s->close(m);
}

void model_states_by_name(struct subject *s) { model_states(s, s->state_save, s->state_load, "NAME_"); }

void model_states_by_desc(struct subject *s)
{
	__typeof__(&net_state_save) save;
	__typeof__(&net_state_load) load;
	memcpy(&save, &s->desc->state_save, sizeof save); /* the same functions, but for the name of the struct */
	memcpy(&load, &s->desc->state_load, sizeof load);
	model_states(s, save, load, "tri_model_desc.");
}

static void entries_of_profile(struct subject *s, const tri_profile *p)
{
	CHECK(p->entries && p->n_entries);
	OK("tri_profile.entries");
	for (uint32_t i = 0; i < p->n_entries; i++)
		CHECK(p->entries[i].code && p->entries[i].operation && p->entries[i].layer && p->entries[i].file);
	OK("tri_profile_entry.code");
	OK("tri_profile_entry.operation");
	OK("tri_profile_entry.layer");
	OK("tri_profile_entry.file");
}

void model_profile(struct subject *s)
{
	net *m = opened(s);
	struct tri_model *same = (struct tri_model *)m;
	net_io io = tensors();
	GIVES_NULL(TRI_ERR_ARGUMENT, s->profile(NULL, err));
	GIVES_NULL(TRI_ERR_ARGUMENT, s->desc->profile(NULL, err));
	OK("NAME_profile.m");
	OK("tri_model_desc.profile.m");
	CHECK(s->run(m, &io, NULL) == TRI_OK && s->profile(m, NULL) && s->desc->profile(same, NULL));
	OK("NAME_profile.err");
	OK("tri_model_desc.profile.err");
	entries_of_profile(s, s->profile(m, NULL));
	FAILS(TRI_ERR_ARGUMENT, s->profile_reset(NULL, err));
	FAILS(TRI_ERR_ARGUMENT, s->desc->profile_reset(NULL, err));
	OK("NAME_profile_reset.m");
	OK("tri_model_desc.profile_reset.m");
	CHECK(s->profile_reset(m, NULL) == TRI_OK && s->desc->profile_reset(same, NULL) == TRI_OK);
	OK("NAME_profile_reset.err");
	OK("tri_model_desc.profile_reset.err");
	s->close(m);
}
