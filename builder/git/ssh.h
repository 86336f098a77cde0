/* ssh:// and host:path through the user's own `ssh`, as git does it: with ~/.ssh/config, known hosts, agents and jump hosts; GIT_SSH_COMMAND,
 * core.sshCommand and GIT_SSH say what is run instead. */
#ifndef TRIB_BUILDER_GIT_SSH_H
#define TRIB_BUILDER_GIT_SSH_H
#include <git2.h>
#include <git2/sys/transport.h>
#include <stdbool.h>

struct ssh_setup {
	char *command; /* for the shell; NULL: `program` */
	const char *program;
	bool (*stopped)(void);
	git_smart_subtransport_definition definition;
};

/* Until ssh_leave libgit2 asks these programs. `config` may be NULL. */
void ssh_enter(struct ssh_setup *s, git_config *config, bool (*stopped)(void));
void ssh_leave(struct ssh_setup *s);
#endif
