#include "builder/git/http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- configuration: http.KEY, and http.URL.KEY for addresses that begin with URL ---- */

/* Returns the address without `user@`, in `to` if there is one. */
static const char *without_user(const char *url, char *to, size_t size)
{
	const char *host = strstr(url, "://");
	size_t len = host ? strcspn(host + 3, "/") : 0;
	const char *at = host ? memchr(host + 3, '@', len) : NULL;
	if (!at || (size_t)snprintf(to, size, "%.*s%s", (int)(host + 3 - url), url, at + 1) >= size)
		return url;
	return to;
}

/* Returns the number of bytes of the address that the entry names; -1: it names another address. */
static int match_length(const char *name, const char *key, const char *url)
{
	size_t n = strlen(name), k = strlen(key), head = strlen("http.");
	if (n < head + k || strncmp(name, "http.", head) != 0 || strcasecmp(name + n - k, key) != 0)
		return -1;
	if (n == head + k)
		return 0;
	if (name[n - k - 1] != '.')
		return -1;
	size_t len = n - k - 1 - head;
	const char *pattern = name + head;
	if (len && pattern[len - 1] == '/')
		len--;
	bool begins = strncmp(pattern, url, len) == 0 && (!url[len] || strchr("/:", url[len]));
	return begins ? (int)len : -1;
}

typedef void value_visitor(void *ctx, const char *value);

/* Visits all values of the entries that name most of the address. */
static void visit_config(git_config *config, const char *key, const char *url, value_visitor *visit, void *ctx)
{
	git_config_iterator *it;
	git_config_entry *e;
	int best = -1;
	char plain[2048];
	url = without_user(url, plain, sizeof plain);
	for (int pass = 0; pass < 2 && config && git_config_iterator_glob_new(&it, config, "^http\\.") == 0; pass++) {
		while (git_config_next(&e, it) == 0) {
			int length = match_length(e->name, key, url);
			if (pass && length >= 0 && length == best)
				visit(ctx, e->value ? e->value : "true");
			best = !pass && length > best ? length : best;
		}
		git_config_iterator_free(it);
	}
}

static void set_text(void *ctx, const char *value) { snprintf(ctx, 4096, "%s", value); }

/* Replaces `~/` by the home folder. */
static void set_path(void *ctx, const char *value)
{
	const char *home = secure_getenv("HOME");
	bool inside = strncmp(value, "~/", 2) == 0 && home;
	snprintf(ctx, 4096, "%s%s", inside ? home : "", inside ? value + 1 : value);
}

static const char *first_non_empty(const char *a, const char *b, const char *c) { return a && *a ? a : *b ? b : c && *c ? c : NULL; }

/* ---- certificates and headers ---- */

static int accept_certificate(git_cert *cert, int valid, const char *host, void *payload)
{
	(void)cert;
	(void)valid;
	(void)host;
	(void)payload;
	return 0;
}

static void free_headers(git_strarray *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		free(headers->strings[i]);
	free(headers->strings);
	*headers = (git_strarray){0};
}

/* An empty header removes those before it, as in git. */
static void http_add_header(void *ctx, const char *value)
{
	git_strarray *list = ctx;
	if (!*value) {
		free_headers(list);
		return;
	}
	char **more = realloc(list->strings, (list->count + 1) * sizeof *more);
	if (!more || !(more[list->count] = strdup(value)))
		abort();
	list->strings = more;
	list->count++;
}

static bool is_false(const char *text)
{
	return !strcasecmp(text, "false") || !strcasecmp(text, "no") || !strcasecmp(text, "off") || !strcmp(text, "0");
}

bool http_set_up(git_config *config, const char *url, git_fetch_options *o)
{
	char info[4096] = "", path[4096] = "", verify[4096] = "";
	if (strncmp(url, "http", 4) != 0)
		return true;
	visit_config(config, "sslCAInfo", url, set_path, info);
	visit_config(config, "sslCAPath", url, set_path, path);
	visit_config(config, "sslVerify", url, set_text, verify);
	visit_config(config, "extraHeader", url, http_add_header, &o->custom_headers);
	if (secure_getenv("GIT_SSL_NO_VERIFY") || is_false(verify))
		o->callbacks.certificate_check = accept_certificate;
	const char *file = first_non_empty(secure_getenv("GIT_SSL_CAINFO"), info, secure_getenv("SSL_CERT_FILE"));
	const char *folder = first_non_empty(secure_getenv("GIT_SSL_CAPATH"), path, secure_getenv("SSL_CERT_DIR"));
	return (!file && !folder) || git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, file, folder) == 0;
}

void http_clean_up(git_fetch_options *o) { free_headers(&o->custom_headers); }
