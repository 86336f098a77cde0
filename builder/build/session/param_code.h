/* Code for functions of parameters, such as quantizers: compiled for this machine while weights are packed, whatever the model's target is. */
#ifndef TRIB_BUILDER_BUILD_SESSION_PARAM_CODE_H
#define TRIB_BUILDER_BUILD_SESSION_PARAM_CODE_H
#include <stdint.h>
#include "backend/buildtime/stream.h"
#include "builder/manifest/options.h"

struct session;
struct stores;
struct param_codes; /* the code that is loaded in this process */

struct param_codes *param_codes_new(void);
void param_codes_free(struct param_codes *p); /* NULL is accepted. The code itself stays */

/* One worker's access. */
struct param_compiler {
	struct session *session;
	const struct stores *stores;
	enum param_code_when when;
	uint32_t worker;
};
/* Code from the session, from the user's cache, or compiled if it pays. `pc` must outlive the result. */
struct stream_compiler param_compiler(struct param_compiler *pc);
#endif
