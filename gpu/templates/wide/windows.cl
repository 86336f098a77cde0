/* Windows of convolutions, as rows of a product: rows are positions, terms are a run of elements for each row of the window. */

/* The results of a work item: positions top … bottom by left … right, channels from `channel` on. */
struct tri_positions {
	long image, channel;
	int top, bottom, left, right;
};

enum { TRI_POSITIONS_HIGH = 8, TRI_POSITIONS_WIDE = 16 };

/* Returns false if there is no item g. */
bool tri_positions_at(struct tri_positions *at, const long g, const long batch, const long out, const long height, const long width)
{
	const long down = (height + TRI_POSITIONS_HIGH - 1) / TRI_POSITIONS_HIGH;
	const long across = (width + TRI_POSITIONS_WIDE - 1) / TRI_POSITIONS_WIDE, blocks = (out + TRI_COLUMNS - 1) / TRI_COLUMNS;
	if (g >= batch * blocks * down * across)
		return false;
	const long i = g / blocks % across, j = g / blocks / across % down;
	at->image = g / blocks / across / down;
	at->channel = g % blocks * TRI_COLUMNS;
	at->top = tri_part(height, down, j);
	at->bottom = tri_part(height, down, j + 1);
	at->left = tri_part(width, across, i);
	at->right = tri_part(width, across, i + 1);
	return true;
}

struct tri_window {
	int height, width, channels, kernel_width, stride_height, stride_width, pad_top, pad_left, dilation_height, dilation_width;
	int used; /* channels that take part: those of a group */
	int run;  /* terms of a row of the window: kernel_width · used, and zeros */
};

/* Copies a block of terms of the windows of all positions; what is outside of the image is 0. Returns as tri_copy_float does. A block consists of runs of
 * elements that are neighbours in the image: a part of a row of the window, or of one of its elements if others lie between them. */
#define TRI_COPY_WINDOWS(type, term)                                                                                                   \
	float16 tri_copy_windows_##type(global const type *x, const struct tri_window *c, const struct tri_positions *at, const int from, \
					const int terms, term *to)                                                                     \
	{                                                                                                                              \
		const bool joined = c->dilation_width == 1 && c->used == c->channels;                                                  \
		const int used = c->kernel_width * c->used, step = c->stride_width * c->channels, end = from + terms;                  \
		float16 odd = 0;                                                                                                       \
		for (int k = from, n; k < end; k += n, to += n) {                                                                      \
			const int a = k % c->run, kw = joined ? 0 : a / c->used, first = joined ? a : a % c->used;                     \
			n = min((a >= used ? c->run : joined ? used : (kw + 1) * c->used) - a, end - k);                               \
			term *row_to = to;                                                                                             \
			for (int i = at->top; i < at->bottom; i++) {                                                                   \
				const int row = i * c->stride_height - c->pad_top + k / c->run * c->dilation_height;                   \
				const int elements = a < used && row >= 0 && row < c->height ? c->width * c->channels : 0;             \
				global const type *row_x = x + (long)row * c->width * c->channels;                                     \
				int e = (at->left * c->stride_width - c->pad_left + kw * c->dilation_width) * c->channels + first;     \
				for (int j = at->left; j < at->right; j++, e += step, row_to += TRI_TERMS) {                           \
					const bool whole = e >= 0 && e + n <= elements;                                                \
					const int before = whole ? 0 : clamp(-e, 0, n);                                                \
					const int after = whole ? n : clamp(elements - e, before, n);                                  \
					if (!whole) {                                                                                  \
						for (int z = 0; z < before; z++)                                                       \
							row_to[z] = 0;                                                                 \
						for (int z = after; z < n; z++)                                                        \
							row_to[z] = 0;                                                                 \
					}                                                                                              \
					odd += tri_copy_##type(row_x + e + before, after - before, row_to + before);                   \
				}                                                                                                      \
			}                                                                                                              \
		}                                                                                                                      \
		return odd;                                                                                                            \
	}
TRI_COPY_WINDOWS(float, float)
TRI_COPY_WINDOWS(char, tri_term)
