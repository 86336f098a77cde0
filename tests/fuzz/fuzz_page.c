/* Any bytes as a report for a page. The line that the page gets is read as the same report, and is the same after another reading. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/cli/profile/page_report.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	const char *line, *again;
	enum page_report_kind kind = page_report_read(a, (const char *)data, size, &line);
	if ((kind == PAGE_REPORT_NONE) != !line)
		abort();
	if (line && (strchr(line, '\n') || page_report_read(a, line, strlen(line), &again) != kind || strcmp(line, again) != 0))
		abort();
	arena_free(a);
	return 0;
}
