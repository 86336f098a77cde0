/* print and assert in code for this processor. */
#include "backend/runtime/context.h"
#include "backend/runtime/effects.h"

void tri_print(struct tri_context *ctx, const char *text, const uint8_t *kinds, void *const *bufs, const int64_t *dims, uint32_t n)
{
	if (!ctx->failed && !ctx->no_print)
		tri_effect_print(text, &(struct tri_effect_values){kinds, bufs, dims, n});
}

void tri_assert(struct tri_context *ctx, const char *text, const char *where, const uint8_t *kinds, void *const *bufs, const int64_t *dims,
		uint32_t n)
{
	if (!ctx->failed &&
	    !tri_effect_holds(text, where, &(struct tri_effect_values){kinds, bufs, dims, n}, ctx->fail_text, sizeof ctx->fail_text))
		tri_fail(ctx, TRI_ERR_ASSERT, 0, 0);
}
