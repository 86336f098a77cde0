/* What the cases share: the model under test, and checks that end the process of a case. */
#ifndef TRIB_TESTS_NULLS_H
#define TRIB_TESTS_NULLS_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"

#define MODEL_FUNCTIONS(F) F(open) F(run) F(run_async) F(close) F(reset) F(state_save) F(state_load) F(profile) F(profile_reset) F(device)

/* What the cases of one command share. */
struct subject {
	char **args;
	void *library;
	const tri_model_desc *desc;
	tri_error err;
#define POINTER(name) __typeof__(&net_##name) name;
	MODEL_FUNCTIONS(POINTER)
#undef POINTER
};

#define CHECK(cond)                                                                    \
	do {                                                                           \
		if (!(cond)) {                                                         \
			printf("line %d: %s (%s)\n", __LINE__, #cond, s->err.message); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

/* The call must fail with this code and a message, and do the same without a place for the message. */
#define FAILS(code_, call)                                                         \
	do {                                                                       \
		tri_error *err = &s->err;                                          \
		memset(err, 0, sizeof *err);                                       \
		CHECK((call) == (code_) && err->code == (code_) && *err->message); \
		err = NULL;                                                        \
		CHECK((call) == (code_));                                          \
	} while (0)
#define GIVES_NULL(code_, call)                                                 \
	do {                                                                    \
		tri_error *err = &s->err;                                       \
		memset(err, 0, sizeof *err);                                    \
		CHECK((call) == NULL && err->code == (code_) && *err->message); \
		err = NULL;                                                     \
		CHECK((call) == NULL);                                          \
	} while (0)

#define OK(what) printf("ok %s\n", what)

/* The library fills the member, unless its count is 0. */
#define FILLED(type, object, member, count)          \
	do {                                         \
		CHECK((object)->member || !(count)); \
		OK(#type "." #member);               \
	} while (0)

/* Tensors for a run of one row. */
net_io tensors(void);

/* The cases of each command. */
#define MODEL_CASES(F)     \
	F(model_open)      \
	F(model_capacity)  \
	F(model_options)   \
	F(model_event)     \
	F(model_run)       \
	F(model_run_async) \
	F(model_close) F(model_device) F(model_reset) F(model_states_by_name) F(model_states_by_desc) F(model_profile) F(described)
#define LIVE_CASES(F) F(live_open) F(live_run) F(live_use)
#define LAZY_CASES(F) F(lazy_open) F(lazy_members)
#define BUILD_CASES(F) F(build_open) F(build_run) F(build_options) F(build_results)
#define DECLARE(f) void f(struct subject *s);
MODEL_CASES(DECLARE) LIVE_CASES(DECLARE) LAZY_CASES(DECLARE) BUILD_CASES(DECLARE)
#undef DECLARE
#endif
