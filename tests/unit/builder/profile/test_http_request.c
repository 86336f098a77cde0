#include "builder/profile/http_request.h"
#include "tests/unit/unit.h"
#include <string.h>

#define PORT 8750
#define HOST "Host: 127.0.0.1:8750\r\n"

static enum http_status judge(const char *text, char path[HTTP_MOST_PATH]) { return http_request_judge(text, strlen(text), PORT, path); }

static void test_answered(void **state)
{
	char path[HTTP_MOST_PATH];
	assert_int_equal(judge("GET / HTTP/1.1\r\n" HOST "Accept: */*\r\n\r\n", path), HTTP_OK);
	assert_string_equal(path, "/");
	assert_int_equal(
		judge("GET /version HTTP/1.0\r\nhost:localhost:8750\r\nOrigin: http://localhost:8750\r\nSec-Fetch-Site: same-origin\r\n\r\n",
		      path),
		HTTP_OK);
	assert_string_equal(path, "/version");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		enum http_status status;
	} list[] = {
		{"GET / HTTP/1.1\r\nHost: evil.example:8750\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\nHost: 127.0.0.1:8751\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\nHost: 127.0.0.1:8750.evil.example\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\n" HOST "Sec-Fetch-Site: cross-site\r\n\r\n", HTTP_FORBIDDEN},
		{"GET / HTTP/1.1\r\n" HOST "Sec-Fetch-Site: same-site\r\n\r\n", HTTP_FORBIDDEN},
		{"POST / HTTP/1.1\r\n" HOST "\r\n", HTTP_NOT_ALLOWED},
		{"get / HTTP/1.1\r\n" HOST "\r\n", HTTP_NOT_ALLOWED},
		{"GET / HTTP/1.1\r\n\r\n", HTTP_BAD},
		{"GET / HTTP/1.1\r\n" HOST HOST "\r\n", HTTP_BAD},
		{"GET / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", HTTP_BAD},
		{"GET / HTTP/1.1\r\n" HOST " folded: x\r\n\r\n", HTTP_BAD},
		{"GET / HTTP/1.1\nHost: 127.0.0.1:8750\n\r\n\r\n", HTTP_BAD},
		{"GET http://127.0.0.1:8750/ HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD},
		{"GET / HTTP/2\r\n" HOST "\r\n", HTTP_BAD},
		{"GET /0123456789012345678901234567890123456789012345678901234567890123456789 HTTP/1.1\r\n" HOST "\r\n", HTTP_NOT_FOUND},
	};
	char path[HTTP_MOST_PATH];
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		assert_int_equal(judge(list[i].text, path), list[i].status);
}

static void test_incomplete(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\n" HOST "\r\n";
	static char long_head[HTTP_MOST_HEAD];
	char path[HTTP_MOST_PATH];
	for (size_t n = 0; n < sizeof text - 1; n++)
		assert_int_equal(http_request_judge(text, n, PORT, path), HTTP_INCOMPLETE);
	memset(long_head, 'a', sizeof long_head);
	assert_int_equal(http_request_judge(long_head, sizeof long_head, PORT, path), HTTP_TOO_LARGE);
}

int test_http_request(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_answered), cmocka_unit_test(test_refused),
					   cmocka_unit_test(test_incomplete)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
