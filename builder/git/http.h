/* https as git users have set it up: certificates, headers, and who logs in. Settings come from the environment and from git's configuration. */
#ifndef TRIB_BUILDER_GIT_HTTP_H
#define TRIB_BUILDER_GIT_HTTP_H
#include <git2.h>
#include <stdbool.h>

struct login {
	const char *url; /* that is fetched; what a server redirects to gets nothing */
	char *answer;    /* of `git credential fill`; NULL: not asked yet */
	bool refused;    /* the server did not take it */
	bool (*stopped)(void);
};

/* Which certificates are believed, and which headers are sent: GIT_SSL_CAINFO, http.sslCAInfo, http.extraHeader … False: libgit2's error. */
bool http_set_up(git_config *config, const char *url, git_fetch_options *o);
void http_clean_up(git_fetch_options *o);
/* For git_remote_callbacks.credentials; the payload begins with a struct login. Nothing is ever asked on a terminal. */
int login_ask(git_credential **out, const char *url, const char *user, unsigned allowed, void *login);
/* Tells git's keepers of passwords whether the one that was used was right. */
void login_settle(struct login *l, bool fetched);
#endif
