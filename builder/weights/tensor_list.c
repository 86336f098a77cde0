/* Ternary blocks, public formats of GGUF:
 *   TQ1_0  256 trits in 54 bytes: 32 + 16 bytes with 5 trits each, 4 bytes with 4 trits, a float16 scale. A byte is the number 0.t0 t1 t2 … in base
 *          3, times 256 and rounded up: multiplied by 3, its high byte is the next trit + 1. Trit k of the bytes of a run comes before their trit k+1.
 *   TQ2_0  256 trits in 66 bytes: twice 32 bytes, whose lowest two bits are the first 32 trits + 1, a float16 scale.
 *   I2_S   128 trits in 32 bytes, whose highest two bits are the first 32 trits + 1; after all, a float32 scale. */
#include "builder/weights/tensor_list.h"
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "builder/weights/convert.h"

enum { BLOCK = 256 };

int64_t file_tensor_count(const struct file_tensor *t)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < t->rank; k++)
		n *= t->dims[k];
	return n;
}

static int tensor_list_by_name(const void *x, const void *y)
{
	const struct file_tensor *a = x, *b = y;
	int c = strcmp(a->name, b->name);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

void tensor_list_sort(struct file_tensor *list, uint32_t n)
{
	if (n)
		qsort(list, n, sizeof *list, tensor_list_by_name);
}

const struct file_tensor *tensor_list_find(const struct tensor_list *s, const char *name)
{
	uint32_t lo = 0, hi = s->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = strcmp(name, s->tensors[mid].name);
		if (c == 0)
			return &s->tensors[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* ---- ternary blocks ---- */

/* `count` bytes of `digits` trits each. Returns the end of the output. */
static int8_t *unpack_base3(const uint8_t *in, int count, int digits, int8_t *out)
{
	unsigned power = 1;
	for (int d = 0; d < digits; d++, power *= 3)
		for (int k = 0; k < count; k++)
			*out++ = (int8_t)(((uint8_t)(in[k] * power) * 3u >> 8) - 1);
	return out;
}

/* 32 bytes, 2 bits for each trit; the first 32 trits are at bit `shift`, the next at shift + step. */
static void unpack_bits(const uint8_t *in, int shift, int step, int8_t *out)
{
	for (int f = 0; f < 4; f++, shift += step)
		for (int k = 0; k < 32; k++)
			*out++ = (int8_t)((in[k] >> shift & 3) - 1);
}

static float half_at(const uint8_t *at)
{
	uint16_t bits;
	memcpy(&bits, at, sizeof bits);
	return (float)float16_value(bits);
}

/* The block's trits and its scale. What is beyond the end of an I2_S tensor is 0. */
static void decode_block(const struct file_tensor *t, int64_t block, int64_t count, int8_t trits[BLOCK], float *scale)
{
	const uint8_t *in = t->data;
	if (t->encoding == TENSOR_TQ1_0) {
		in += block * 54;
		unpack_base3(in + 48, 4, 4, unpack_base3(in + 32, 16, 5, unpack_base3(in, 32, 5, trits)));
		*scale = half_at(in + 52);
		return;
	}
	if (t->encoding == TENSOR_TQ2_0) {
		in += block * 66;
		unpack_bits(in, 0, 2, trits);
		unpack_bits(in + 32, 0, 2, trits + 128);
		*scale = half_at(in + 64);
		return;
	}
	memset(trits, 0, BLOCK);
	for (int64_t k = 0; k < 2 && block * BLOCK + k * 128 < count; k++)
		unpack_bits(in + (block * 2 + k) * 32, 6, -2, trits + k * 128);
	memcpy(scale, in + count / 4, sizeof *scale);
}

static bool read_ternary(const struct file_tensor *t, int64_t first, size_t n, dtype to, void *out, size_t *bad, double *value)
{
	int8_t trits[BLOCK];
	float floats[BLOCK], scale;
	int64_t count = file_tensor_count(t);
	for (size_t done = 0; done < n;) {
		int64_t at = first + (int64_t)done, block = at / BLOCK, skip = at % BLOCK;
		size_t some = (size_t)(BLOCK - skip) < n - done ? (size_t)(BLOCK - skip) : n - done;
		void *to_here = (char *)out + done * dtype_size(to);
		decode_block(t, block, count, trits, &scale);
		for (int k = 0; k < BLOCK; k++)
			floats[k] = (float)trits[k] * scale;
		bool ok = to == DT_TRIT ? convert_elements(DT_INT8, trits + skip, to, to_here, some, bad, value)
					: convert_elements(DT_FLOAT32, floats + skip, to, to_here, some, bad, value);
		if (!ok) {
			*bad += (size_t)at;
			return false;
		}
		done += some;
	}
	return true;
}

bool tensor_read(const struct file_tensor *t, int64_t first, size_t n, dtype to, void *out, size_t *bad, double *value)
{
	if (t->encoding != TENSOR_PLAIN)
		return read_ternary(t, first, n, to, out, bad, value);
	if (convert_elements(t->elem, (const char *)t->data + (size_t)first * dtype_size(t->elem), to, out, n, bad, value))
		return true;
	*bad += (size_t)first;
	return false;
}
