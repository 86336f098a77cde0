/* Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986) between the first and the last line that differ. */
#include "base/line_diff.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/foreign.h"
#include "base/vec.h"

#define MAX_EDITS 1000 /* most edits; the memory is quadratic in them */
#define CONTEXT 3

struct line {
	const char *at;
	uint32_t len; /* with its newline */
};
typedef VEC(struct line) line_vec;

struct diff {
	line_vec a, b;
	uint8_t *kept_a, *kept_b; /* for each line: it is in both texts */
};

static void line_diff_split(line_vec *lines, const char *text, size_t n)
{
	for (const char *end = text + n; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *next = newline ? newline + 1 : end;
		vec_push(lines, ((struct line){text, (uint32_t)(next - text)}));
		text = next;
	}
}

static bool line_diff_same(const struct diff *d, int64_t x, int64_t y)
{
	struct line a = d->a.at[x], b = d->b.at[y];
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* The part that differs: n lines of a and m lines of b, from line `low`. */
struct part {
	int64_t low, n, m;
};

static struct part line_diff_trim(struct diff *d)
{
	struct part p = {0, d->a.len, d->b.len};
	while (p.low < p.n && p.low < p.m && line_diff_same(d, p.low, p.low)) {
		d->kept_a[p.low] = d->kept_b[p.low] = 1;
		p.low++;
	}
	while (p.n > p.low && p.m > p.low && line_diff_same(d, p.n - 1, p.m - 1))
		d->kept_a[--p.n] = d->kept_b[--p.m] = 1;
	p.n -= p.low;
	p.m -= p.low;
	return p;
}

static bool goes_down(const int32_t *row, int64_t k, int64_t edits) { return k == -edits || (k != edits && row[k - 1] < row[k + 1]); }

/* Follows the rows of furthest reach back from the end of both parts. */
static void backtrack(struct diff *d, struct part p, int32_t *const *rows, int64_t edits)
{
	int64_t x = p.n, y = p.m;
	for (; edits > 0; edits--) {
		const int32_t *row = rows[edits - 1] + edits;
		int64_t k = x - y, before = goes_down(row, k, edits) ? k + 1 : k - 1, from_x = row[before], from_y = from_x - before;
		while (x > from_x && y > from_y) {
			x--, y--;
			d->kept_a[p.low + x] = d->kept_b[p.low + y] = 1;
		}
		x = from_x;
		y = from_y;
	}
	while (x > 0 && y > 0) {
		x--, y--;
		d->kept_a[p.low + x] = d->kept_b[p.low + y] = 1;
	}
}

/* Computes row `edits` from the row before: row[k] is the furthest x on diagonal k. True: the end was reached. */
static bool line_diff_advance(const struct diff *d, struct part p, const int32_t *last, int32_t *row, int64_t edits)
{
	for (int64_t k = -edits; k <= edits; k += 2) {
		int64_t x = !edits ? 0 : goes_down(last, k, edits) ? last[k + 1] : last[k - 1] + 1, y = x - k;
		while (x < p.n && y < p.m && y >= 0 && line_diff_same(d, p.low + x, p.low + y))
			x++, y++;
		row[k] = (int32_t)x;
		if (x >= p.n && y >= p.m)
			return true;
	}
	return false;
}

static void line_diff_compare(struct diff *d)
{
	struct part p = line_diff_trim(d);
	int32_t *rows[MAX_EDITS + 1] = {0};
	int64_t edits = 0;
	bool found = false;
	for (; edits <= MAX_EDITS && !found; edits++) {
		rows[edits] = calloc((size_t)(2 * edits + 3), sizeof **rows);
		if (!rows[edits])
			bug_no_memory();
		found = line_diff_advance(d, p, edits ? rows[edits - 1] + edits : NULL, rows[edits] + edits + 1, edits);
	}
	if (found)
		backtrack(d, p, rows, edits - 1);
	for (int64_t i = 0; i < edits; i++)
		free(rows[i]);
}

static void line_diff_put_line(struct buf *out, char sign, struct line l)
{
	buf_putc(out, sign);
	buf_put(out, l.at, l.len);
	if (l.at[l.len - 1] != '\n')
		buf_puts(out, "\n\\ No newline at end of file\n");
}

struct hunk {
	uint32_t a, b, end_a, end_b;
};

/* Finds the next hunk from (a, b) on, with context. False: there is none. */
static bool next_hunk(const struct diff *d, uint32_t a, uint32_t b, struct hunk *h)
{
	while (a < d->a.len && b < d->b.len && d->kept_a[a] && d->kept_b[b])
		a++, b++;
	if (a == d->a.len && b == d->b.len)
		return false;
	uint32_t lead = a < CONTEXT ? a : CONTEXT, quiet = 0;
	lead = b < lead ? b : lead;
	*h = (struct hunk){a - lead, b - lead, a, b};
	while ((a < d->a.len || b < d->b.len) && quiet <= 2 * CONTEXT) {
		if (a < d->a.len && !d->kept_a[a]) {
			a++, quiet = 0;
		} else if (b < d->b.len && !d->kept_b[b]) {
			b++, quiet = 0;
		} else {
			a++, b++, quiet++;
			continue;
		}
		h->end_a = a;
		h->end_b = b;
	}
	for (uint32_t i = 0; i < CONTEXT && h->end_a < d->a.len && h->end_b < d->b.len && d->kept_a[h->end_a]; i++)
		h->end_a++, h->end_b++;
	return true;
}

static void line_diff_put_range(struct buf *out, char sign, uint32_t from, uint32_t to)
{
	buf_printf(out, " %c%u,%u", sign, to > from ? from + 1 : from, to - from);
}

static void put_hunk(const struct diff *d, const struct hunk *h, struct buf *out)
{
	uint32_t a = h->a, b = h->b;
	buf_puts(out, "@@");
	line_diff_put_range(out, '-', h->a, h->end_a);
	line_diff_put_range(out, '+', h->b, h->end_b);
	buf_puts(out, " @@\n");
	while (a < h->end_a || b < h->end_b) {
		if (a < h->end_a && !d->kept_a[a])
			line_diff_put_line(out, '-', d->a.at[a++]);
		else if (b < h->end_b && !d->kept_b[b])
			line_diff_put_line(out, '+', d->b.at[b++]);
		else
			line_diff_put_line(out, ' ', d->a.at[a++]), b++;
	}
}

static void diff_open(struct diff *d, const char *before, size_t n_before, const char *after, size_t n_after)
{
	*d = (struct diff){0};
	line_diff_split(&d->a, before, n_before);
	line_diff_split(&d->b, after, n_after);
	d->kept_a = calloc(d->a.len + 1, 1);
	d->kept_b = calloc(d->b.len + 1, 1);
	if (!d->kept_a || !d->kept_b)
		bug_no_memory();
	line_diff_compare(d);
}

static void diff_close(struct diff *d)
{
	free(d->kept_a);
	free(d->kept_b);
	vec_free(&d->a);
	vec_free(&d->b);
}

void line_diff(const char *name, const char *before, size_t n_before, const char *after, size_t n_after, struct buf *out)
{
	struct diff d;
	struct hunk h = {0};
	diff_open(&d, before, n_before, after, n_after);
	for (bool first = true; next_hunk(&d, h.end_a, h.end_b, &h); first = false) {
		if (first)
			foreign_printf(out, FOREIGN_LINE, "--- %s\n+++ %s\n", name, name);
		put_hunk(&d, &h, out);
	}
	diff_close(&d);
}

struct line_changes line_changes(const char *before, size_t n_before, const char *after, size_t n_after)
{
	struct line_changes out = {0};
	struct diff d;
	size_t at = 0, new_at = 0;
	diff_open(&d, before, n_before, after, n_after);
	for (uint32_t a = 0, b = 0; a < d.a.len || b < d.b.len; a++, b++) {
		struct line_change c = {at, at, new_at, new_at};
		for (; a < d.a.len && !d.kept_a[a]; a++)
			c.to += d.a.at[a].len;
		for (; b < d.b.len && !d.kept_b[b]; b++)
			c.new_to += d.b.at[b].len;
		if (c.to > c.from || c.new_to > c.new_from)
			vec_push(&out.at, c);
		at = c.to + (a < d.a.len ? d.a.at[a].len : 0);
		new_at = c.new_to + (b < d.b.len ? d.b.at[b].len : 0);
	}
	diff_close(&d);
	return out;
}
