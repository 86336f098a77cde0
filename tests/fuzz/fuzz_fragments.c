/* The log of fragments of a project. The first byte chooses: any bytes as a log, or a log of fragments made of the input that is then damaged: three
 * bytes change one (place, value). A fragment that is found has the bytes that were kept; damage only costs fragments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "builder/store/fragment_log.h"
#include "tests/fuzz/fuzz.h"

enum { FRAGMENTS = 4 };
static const hash128 id = {1, 2};

static hash128 key_of(uint64_t i) { return (hash128){i, 4}; }

static void keep_all(const char *folder, const uint8_t *data, size_t size, bool is_whole)
{
	struct buf warning = {0};
	struct fragment_log *l = fragment_log_open(folder, id);
	for (size_t i = 0; i < FRAGMENTS; i++)
		fragment_log_keep(l, key_of(i), data, size * i / FRAGMENTS);
	BUG_ON(!fragment_log_write(l, is_whole, &warning));
	fragment_log_close(l);
	buf_free(&warning);
}

/* Returns the number of fragments that are found. */
static unsigned find_all(const char *folder, const uint8_t *data, size_t size)
{
	struct fragment_log *l = fragment_log_open(folder, id);
	unsigned n = 0;
	for (size_t i = 0; i < FRAGMENTS; i++) {
		size_t len;
		const void *found = fragment_log_find(l, key_of(i), &len);
		BUG_ON(found && (len != size * i / FRAGMENTS || (len && memcmp(found, data, len))));
		n += found != NULL;
	}
	fragment_log_close(l);
	return n;
}

static void damage(const char *path, const uint8_t *data, size_t size)
{
	char *bytes;
	size_t n;
	BUG_ON(!os_read_file(path, 0, &bytes, &n));
	for (size_t i = 0; i + 3 <= size && i < 12; i += 3)
		bytes[(data[i] << 8 | data[i + 1]) % n] = (char)data[i + 2];
	BUG_ON(!os_write_atomic(path, bytes, size & 1 ? n - size % n : n, 0666, false));
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/tmp/trib-fuzz-XXXXXX", path[80], hex[33];
	if (!size || size > 4096)
		return 0;
	BUG_ON(!mkdtemp(folder));
	hash_hex(id, hex);
	snprintf(path, sizeof path, "%s/%s", folder, hex);
	if (data[0] & 1) {
		keep_all(folder, data, size, true);
		BUG_ON(find_all(folder, data, size) != FRAGMENTS);
		damage(path, data + 1, size - 1);
	} else {
		BUG_ON(!os_write_atomic(path, data + 1, size - 1, 0666, false));
	}
	find_all(folder, data, size);
	keep_all(folder, data, size, data[0] & 2);
	BUG_ON(find_all(folder, data, size) != FRAGMENTS);
	BUG_ON(!os_remove_tree(folder));
	return 0;
}
