/* A directory at the end of the file lists the entries: their names, sizes and the offsets of their headers. With zip64, sizes and offsets of
 * 0xffffffff are in an extra field, and the directory's place is in a record of its own. APPNOTE.TXT of PKWARE, 4.3. */
#include "builder/weights/zip.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/weights/byte_reader.h"

enum { END = 22, LOCATOR = 20, END64 = 56, HEADER = 46, LOCAL = 30, LONGEST_COMMENT = 65535 };

struct archive {
	struct arena *a;
	const unsigned char *bytes;
	size_t len;
	const char *why; /* the first error, or NULL */
};

/* n bytes at `at` with this signature, or NULL. */
static const unsigned char *zip_record(struct archive *z, uint64_t at, size_t n, uint32_t signature, const char *what)
{
	if (at <= z->len && n <= z->len - at && little_endian(z->bytes + at, 4) == signature)
		return z->bytes + at;
	z->why = arena_printf(z->a, "%s, at byte %llu, is damaged or missing", what, (unsigned long long)at);
	return NULL;
}

/* The offset of the record that ends the archive. */
static size_t find_end(const struct archive *z)
{
	size_t least = z->len > END + LONGEST_COMMENT ? z->len - END - LONGEST_COMMENT : 0;
	for (size_t at = z->len >= END ? z->len - END + 1 : 0; at-- > least;)
		if (little_endian(z->bytes + at, 4) == 0x06054b50)
			return at;
	return z->len;
}

struct directory {
	uint64_t at, n;
};
static bool find_directory(struct archive *z, struct directory *d)
{
	size_t end = find_end(z);
	const unsigned char *e = zip_record(z, end, END, 0x06054b50, "the end of its directory");
	if (!e)
		return false;
	*d = (struct directory){little_endian(e + 16, 4), little_endian(e + 10, 2)};
	if (end < LOCATOR || little_endian(z->bytes + end - LOCATOR, 4) != 0x07064b50)
		return true;
	const unsigned char *e64 =
		zip_record(z, little_endian(z->bytes + end - LOCATOR + 8, 8), END64, 0x06064b50, "the end of its directory (zip64)");
	if (!e64)
		return false;
	*d = (struct directory){little_endian(e64 + 48, 8), little_endian(e64 + 32, 8)};
	return true;
}

struct sizes {
	uint64_t raw, stored, at;
};
/* Fields of 0xffffffff are in the extra field with id 1, in this order. */
static bool read_sizes64(const unsigned char *extra, size_t n, struct sizes *s)
{
	uint64_t *const fields[] = {&s->raw, &s->stored, &s->at};
	while (n >= 4) {
		size_t id = little_endian(extra, 2), size = little_endian(extra + 2, 2);
		if (size > n - 4)
			return false;
		for (size_t k = 0, at = 4; id == 1 && k < 3; k++) {
			if (*fields[k] != UINT32_MAX)
				continue;
			if (at + 8 > size + 4)
				return false;
			*fields[k] = little_endian(extra + at, 8);
			at += 8;
		}
		extra += 4 + size;
		n -= 4 + size;
	}
	return true;
}

static bool zip_read_entry(struct archive *z, uint64_t *at, struct zip_entry *e)
{
	const unsigned char *h = zip_record(z, *at, HEADER, 0x02014b50, "an entry of its directory");
	if (!h)
		return false;
	size_t name = little_endian(h + 28, 2), extra = little_endian(h + 30, 2), comment = little_endian(h + 32, 2),
	       all = HEADER + name + extra + comment;
	struct sizes s = {little_endian(h + 24, 4), little_endian(h + 20, 4), little_endian(h + 42, 4)};
	bool ok = all <= z->len - *at && !memchr(h + HEADER, 0, name) && read_sizes64(h + HEADER + name, extra, &s);
	const unsigned char *l = ok ? zip_record(z, s.at, LOCAL, 0x04034b50, "the header of an entry") : NULL;
	if (!l) {
		z->why =
			z->why ? z->why : arena_printf(z->a, "the entry of its directory at byte %llu is damaged", (unsigned long long)*at);
		return false;
	}
	e->name = arena_strndup(z->a, (const char *)h + HEADER, name);
	uint64_t data = s.at + LOCAL + little_endian(l + 26, 2) + little_endian(l + 28, 2);
	if (data > z->len || s.stored > z->len - data) {
		z->why = arena_printf(z->a, "its entry `%s` ends behind the end of the file: it is truncated", e->name);
		return false;
	}
	bool plain = little_endian(h + 10, 2) == 0 && !(little_endian(h + 8, 2) & 1) && s.raw == s.stored;
	e->data = plain ? z->bytes + data : NULL;
	e->size = (size_t)s.stored;
	*at += all;
	return true;
}

static int zip_by_name(const void *x, const void *y)
{
	return strcmp(((const struct zip_entry *)x)->name, ((const struct zip_entry *)y)->name);
}

const struct zip *zip_parse(struct arena *a, const void *bytes, size_t len, const char **error)
{
	struct archive z = {a, bytes, len, NULL};
	struct directory d;
	struct zip *out = ARENA_NEW(a, struct zip);
	bool ok = find_directory(&z, &d);
	if (ok && d.n > len / HEADER) {
		z.why = "its directory is longer than the file";
		ok = false;
	}
	out->entries = ARENA_ARRAY(a, struct zip_entry, (ok ? d.n : 0) + 1);
	for (; ok && out->n < d.n; out->n++)
		ok = zip_read_entry(&z, &d.at, &out->entries[out->n]);
	if (!ok) {
		*error = z.why;
		return NULL;
	}
	if (out->n)
		qsort(out->entries, out->n, sizeof *out->entries, zip_by_name);
	return out;
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
	struct zip_entry key = {.name = name};
	return z->n ? bsearch(&key, z->entries, z->n, sizeof key, zip_by_name) : NULL;
}
