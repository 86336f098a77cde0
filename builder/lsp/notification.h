/* One notification or control request on its way through its handler, which changes the state. */
#ifndef TRIB_BUILDER_LSP_NOTIFICATION_H
#define TRIB_BUILDER_LSP_NOTIFICATION_H
#include "base/json.h"
#include "builder/lsp/editor_state.h"
#include "builder/lsp/params.h"

struct arena;

struct notification {
	struct editor_state *state;
	const json_t *params;
	struct arena *scratch;
	struct buf *outbox;         /* messages to the editor */
	struct json_writer *result; /* of a control request; NULL for a notification */
};
typedef void notification_handler(struct notification *n);
#define QUERY(method, name, needs)
#define CONTROL(method, name) notification_handler control_##name;
#define NOTIFICATION(method, name) notification_handler note_##name;
#include "builder/lsp/methods.def"
#undef QUERY
#undef CONTROL
#undef NOTIFICATION
#endif
