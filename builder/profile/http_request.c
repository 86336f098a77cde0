#include "builder/profile/http_request.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct part {
	const char *at;
	size_t len;
};

static bool is(struct part p, const char *text) { return p.len == strlen(text) && strncasecmp(p.at, text, p.len) == 0; }

/* Cuts off the text before `end`, which must occur. */
static bool cut(struct part *rest, const char *end, struct part *out)
{
	const char *found = memmem(rest->at, rest->len, end, strlen(end));
	if (!found)
		return false;
	*out = (struct part){rest->at, (size_t)(found - rest->at)};
	rest->len -= out->len + strlen(end);
	rest->at = found + strlen(end);
	return true;
}

static struct part http_request_trimmed(struct part p)
{
	while (p.len && (*p.at == ' ' || *p.at == '\t'))
		p = (struct part){p.at + 1, p.len - 1};
	while (p.len && (p.at[p.len - 1] == ' ' || p.at[p.len - 1] == '\t'))
		p.len--;
	return p;
}

static bool has_control_characters(struct part p)
{
	for (size_t i = 0; i < p.len; i++)
		if (((unsigned char)p.at[i] < ' ' && p.at[i] != '\t') || p.at[i] == 0x7f)
			return true;
	return false;
}

/* A name that another server could have is refused: it may lead here by a DNS record that was changed meanwhile. */
static bool is_this_server(struct part host, const char *before, uint16_t port)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	char text[64];
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "%s%s:%u", before, names[i], port);
		if (is(host, text))
			return true;
		snprintf(text, sizeof text, "%s%s", before, names[i]);
		if (port == 80 && is(host, text))
			return true;
	}
	return false;
}

static enum http_status judge_line(struct part line, char path[HTTP_MOST_PATH])
{
	struct part method, target;
	if (has_control_characters(line) || !cut(&line, " ", &method) || !cut(&line, " ", &target))
		return HTTP_BAD;
	if (!(is(line, "HTTP/1.1") || is(line, "HTTP/1.0")) || !target.len || *target.at != '/')
		return HTTP_BAD;
	if (method.len != 3 || memcmp(method.at, "GET", 3) != 0)
		return HTTP_NOT_ALLOWED;
	if (target.len >= HTTP_MOST_PATH)
		return HTTP_NOT_FOUND;
	memcpy(path, target.at, target.len);
	path[target.len] = '\0';
	return HTTP_OK;
}

static enum http_status judge_header(struct part line, uint16_t port, bool *has_host)
{
	struct part name, value = line;
	if (has_control_characters(line) || !cut(&value, ":", &name) || !name.len || memchr(name.at, ' ', name.len) ||
	    memchr(name.at, '\t', name.len))
		return HTTP_BAD;
	value = http_request_trimmed(value);
	if (is(name, "Content-Length") || is(name, "Transfer-Encoding") || (is(name, "Host") && *has_host))
		return HTTP_BAD;
	*has_host |= is(name, "Host");
	if (is(name, "Host") && !is_this_server(value, "", port))
		return HTTP_FORBIDDEN;
	if (is(name, "Origin") && !is_this_server(value, "http://", port))
		return HTTP_FORBIDDEN;
	if (is(name, "Sec-Fetch-Site") && !is(value, "same-origin") && !is(value, "none"))
		return HTTP_FORBIDDEN;
	return HTTP_OK;
}

enum http_status http_request_judge(const char *text, size_t len, uint16_t port, char path[HTTP_MOST_PATH])
{
	struct part rest = {text, len}, head, line;
	bool has_host = false;
	if (!cut(&rest, "\r\n\r\n", &head))
		return len >= HTTP_MOST_HEAD ? HTTP_TOO_LARGE : HTTP_INCOMPLETE;
	if (head.len > HTTP_MOST_HEAD)
		return HTTP_TOO_LARGE;
	head.len += 2; /* the end of the last line */
	if (!cut(&head, "\r\n", &line))
		return HTTP_BAD;
	enum http_status s = judge_line(line, path);
	while (s == HTTP_OK && cut(&head, "\r\n", &line))
		s = judge_header(line, port, &has_host);
	return s == HTTP_OK && !has_host ? HTTP_BAD : s;
}
