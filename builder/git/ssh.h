/* A libgit2 transport for ssh:// and host:path. It runs the user's `ssh`, or GIT_SSH_COMMAND, core.sshCommand or GIT_SSH, as git does: with
 * ~/.ssh/config, known hosts, agents and jump hosts. */
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

/* Registers the transport until ssh_unregister. `config` may be NULL. */
void ssh_register(struct ssh_setup *s, git_config *config, bool (*stopped)(void));
void ssh_unregister(struct ssh_setup *s);
#endif
