/* Decides about requests of browsers to the page server: only a GET from the page itself, or typed by the user, is answered. */
#ifndef TRIB_BUILDER_PROFILE_HTTP_REQUEST_H
#define TRIB_BUILDER_PROFILE_HTTP_REQUEST_H
#include <stddef.h>
#include <stdint.h>

enum { HTTP_MOST_HEAD = 8192, HTTP_MOST_PATH = 64 };
enum http_status {
	HTTP_INCOMPLETE = 0, /* more bytes must come */
	HTTP_OK = 200,
	HTTP_BAD = 400,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_NOT_ALLOWED = 405,
	HTTP_TOO_LARGE = 431,
	HTTP_FAILED = 500
};
/* Judges the first `len` bytes of a connection to `port` of this machine. On HTTP_OK `path` is what the request asks for. RFC 9112. */
enum http_status http_request_judge(const char *text, size_t len, uint16_t port, char path[HTTP_MOST_PATH]);
#endif
