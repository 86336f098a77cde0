/* Keeps the analyses of the workspaces, and the diagnostics that the editor shows, up to date. */
#ifndef TRIB_BUILDER_LSP_PUBLISH_H
#define TRIB_BUILDER_LSP_PUBLISH_H
#include "builder/lsp/editor_state.h"

/* Analyses the workspace if something changed since its last analysis, and sends its diagnostics. */
void workspace_refresh(struct editor_state *s, struct workspace *ws, struct buf *outbox);
/* Removes the workspaces without an open document, with their diagnostics, and refreshes the others. */
void workspaces_refresh(struct editor_state *s, struct buf *outbox);
/* Elaborates one model of a workspace and sends its diagnostics. */
void workspaces_elaborate_next(struct editor_state *s, struct buf *outbox);
bool workspaces_have_models_left(const struct editor_state *s);
#endif
