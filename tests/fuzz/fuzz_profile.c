/* Any bytes as a profile. An accepted profile is the same after writing and reading. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "builder/profile/profile.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf error = {0}, text = {0}, again = {0};
	struct profile *p = profile_parse((const char *)data, size, &error);
	if (p) {
		profile_print(p, &text);
		struct profile *back = profile_parse(text.at, text.len, &error);
		if (!back)
			abort();
		profile_print(back, &again);
		if (text.len != again.len || memcmp(text.at, again.at, text.len) != 0)
			abort();
		profile_append(p, back);
		profile_free(back);
		profile_free(p);
	} else if (!error.len) {
		abort();
	}
	buf_free(&error);
	buf_free(&text);
	buf_free(&again);
	return 0;
}
