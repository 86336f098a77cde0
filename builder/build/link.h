/* Links one model: its objects and packed weights become its outputs. */
#ifndef TRIB_BUILDER_BUILD_LINK_H
#define TRIB_BUILDER_BUILD_LINK_H
#include <stdbool.h>
#include <stdint.h>

struct model_job;
struct repository;

/* Sets link.digest, and link.is_current if the outputs were made from an equal one. */
void link_digest(struct model_job *m, const struct repository *repo);
/* On a worker. Errors go to m->diags. */
void link_model(struct model_job *m, const struct repository *repo, uint32_t worker);
#endif
