/* Certificates, headers and logins of https, from the environment and from git's configuration. */
#ifndef TRIB_BUILDER_GIT_HTTP_H
#define TRIB_BUILDER_GIT_HTTP_H
#include <git2.h>
#include <stdbool.h>

struct login {
	const char *url; /* the fetched address; a server that it redirects to gets no password */
	char *answer;    /* of `git credential fill`, or NULL */
	bool rejected;   /* by the server */
	bool (*stopped)(void);
};

/* Sets certificates and headers: GIT_SSL_CAINFO, http.sslCAInfo, http.extraHeader … False: libgit2's error. */
bool http_set_up(git_config *config, const char *url, git_fetch_options *o);
void http_clean_up(git_fetch_options *o);
/* The callback git_remote_callbacks.credentials; the payload begins with a struct login. Never prompts. */
int login_provide(git_credential **out, const char *url, const char *user, unsigned allowed, void *login);
/* Informs `git credential` if the password was accepted. */
void login_finish(struct login *l, bool fetched);
#endif
