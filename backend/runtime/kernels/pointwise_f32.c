/* y float32 [batch, P, out] = x [batch, P, channels] convolved with a window of one element: a product of the positions of all images with w, whose
 * panels are those of a matrix. It needs no pointers to windows, which take a fifth of the time of a convolution with few channels. */
#include "backend/runtime/kernels/kernel.h"

/* An epilogue of the product, whose rows are the positions of one image after the other. */
struct by_image {
	struct tri_epilogue epilogue;
	const struct tri_epilogue *of; /* of the convolution */
	int64_t positions;
};

static void pass_images(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	const struct by_image *b = (const void *)e;
	for (int64_t done = 0, n; done < rows; done += n) {
		int64_t row = at[1] + done, position = row % b->positions, left = b->positions - position;
		n = left < rows - done ? left : rows - done;
		b->of->fn(b->of, (const float *)tile + done * stride, stride, (int64_t[]){row / b->positions, position, at[2]}, n, columns);
	}
}

void tri_pointwise_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	const struct tri_conv_dims *c = tri_conv_of(dims);
	struct by_image b = {.epilogue.fn = pass_images, .of = epilogue, .positions = c->height * c->width};
	const struct tri_matmul_dims product = {.M = c->batch * b.positions, .K = c->channels, .N = c->out};
	tri_matmul_f32_panels(ctx, bufs, &product.M, epilogue && c->batch > 1 ? &b.epilogue : epilogue);
}
