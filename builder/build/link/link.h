/* Links one model: its objects and packed weights become its outputs. */
#ifndef TRIB_BUILDER_BUILD_LINK_LINK_H
#define TRIB_BUILDER_BUILD_LINK_LINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "builder/manifest/manifest.h"

struct arena;
struct buf;
struct build_context;
struct fragments;
struct link_request;
struct model_input;
struct model_job;
struct repository;
struct triw_entry;
struct variant;

/* Sets link.digest, and link.is_current if the outputs were made from an equal one. */
void link_digest(struct build_context *c, struct model_job *m, const struct repository *repo);
/* On a worker. Errors go to m->diags. */
void link_model(struct build_context *c, struct model_job *m, const struct repository *repo);
/* Leaves the runtime's objects to the session's next build. */
void link_retain_runtime(struct fragments *fragments, const struct variant *v);
#endif
