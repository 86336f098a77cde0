/* Any text as the value of --input: a file, or values with a shape of non-negative sizes. A rejected text gets a message. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "builder/run/run_input.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf error = {0};
	struct run_source s;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	if (!run_source_parse(text, &s, &error) && !error.len)
		abort();
	if (!error.len && s.kind == SOURCE_FILE && strcmp(s.path, text) != 0)
		abort();
	if (s.rank < 0 || s.rank > TRI_MAX_RANK)
		abort();
	for (int32_t k = 0; !error.len && k < s.rank; k++)
		if (s.dims[k] < 0)
			abort();
	buf_free(&error);
	free(text);
	return 0;
}
