/* Any bytes as a request to the page server. What is answered has a GET, a Host of this machine, and no foreign origin; more bytes after the head change
 * nothing. */
#include <stdlib.h>
#include <string.h>
#include "builder/profile/http_request.h"
#include "tests/fuzz/fuzz.h"

#define PORT 8750

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[HTTP_MOST_PATH] = "", again[HTTP_MOST_PATH];
	const char *text = (const char *)data;
	enum http_status s = http_request_judge(text, size, PORT, path);
	if (s == HTTP_OK && (memcmp(text, "GET /", 5) != 0 || path[0] != '/' || strlen(path) >= HTTP_MOST_PATH || strpbrk(path, "\r\n ") ||
			     (!memmem(text, size, "127.0.0.1:8750", 14) && !memmem(text, size, ":8750", 5))))
		abort();
	for (size_t cut = 0; cut < size; cut += 1 + size / 64) {
		enum http_status part = http_request_judge(text, cut, PORT, again);
		if (part != HTTP_INCOMPLETE && part != HTTP_TOO_LARGE && part != s)
			abort();
	}
	return 0;
}
