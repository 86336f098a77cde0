/* What the renderers need beyond diag.h. */
#ifndef TRIB_BASE_DIAG_PRIVATE_H
#define TRIB_BASE_DIAG_PRIVATE_H
#include <stdint.h>

struct diags;
/* Errors counted but not kept, because of the limit. */
uint32_t diags_dropped(const struct diags *d);
#endif
