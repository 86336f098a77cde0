/* Hashes a weights file and its tensors while it is read once: a block of 64 KiB is in the cache for both hashes, and for the look for NaN. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "builder/weights/weights_file.h"

enum { BLOCK = 1 << 16 };

static int weights_digest_by_place(const void *x, const void *y)
{
	const struct file_tensor *const *a = x, *const *b = y;
	return ((*a)->data > (*b)->data) - ((*a)->data < (*b)->data);
}

/* The part's tensors in the order of their data. */
static const struct file_tensor **list_tensors(const struct weights *w, const struct weights_part *part, uint32_t *n)
{
	const struct file_tensor **list = alloc_zeroed(((size_t)w->st->n + 1) * sizeof *list);
	const char *start = part->bytes;
	*n = 0;
	for (uint32_t i = 0; i < w->st->n; i++) {
		const struct file_tensor *t = &w->st->tensors[i];
		if (t->bytes && (const char *)t->data >= start && (const char *)t->data < start + part->len)
			list[(*n)++] = t;
	}
	qsort(list, *n, sizeof *list, weights_digest_by_place);
	return list;
}

static void weights_digest_read_tensor(const struct file_tensor *t, struct hasher *file, struct weights_content *out)
{
	struct hasher *h = hasher_new();
	size_t at;
	bool is_plain = t->encoding == TENSOR_PLAIN && t->elem != DT_COUNT;
	out->is_finite = is_plain;
	for (size_t done = 0; done < t->bytes; done += BLOCK) {
		size_t some = t->bytes - done < BLOCK ? t->bytes - done : BLOCK;
		const char *data = (const char *)t->data + done;
		hasher_add(file, data, some);
		hasher_add(h, data, some);
		out->is_finite = out->is_finite && weights_finite(t->elem, data, some / dtype_size(t->elem), &at);
	}
	out->hash = hasher_finish(h);
	out->is_known = true;
}

/* Tensors may share data: then only the first is read here. */
hash128 weights_digest(struct weights *w, uint32_t part)
{
	const struct weights_part *p = &w->parts[part];
	struct hasher *file = hasher_new();
	uint32_t n;
	const struct file_tensor **list = list_tensors(w, p, &n);
	const char *at = p->bytes, *end = at + p->len;
	for (uint32_t i = 0; i < n; i++) {
		const char *data = list[i]->data;
		if (data < at)
			continue;
		hasher_add(file, at, (size_t)(data - at));
		weights_digest_read_tensor(list[i], file, &w->contents[list[i] - w->st->tensors]);
		at = data + list[i]->bytes;
	}
	hasher_add(file, at, (size_t)(end - at));
	free(list);
	return hasher_finish(file);
}

const struct file_stamp *weights_stamp(const struct weights *w, uint32_t part) { return &w->parts[part].stamp; }
