/* The profile of a project's newest build, which builds write while `trib profile serve` shows it. Paths are relative to the project. */
#ifndef TRIB_BUILDER_PROFILE_SERVED_H
#define TRIB_BUILDER_PROFILE_SERVED_H
#include <stdbool.h>

#define SERVED_PROFILE ".trib/profile.json"

/* True while a process serves the project's page. */
bool served_is_wanted(void);
/* This process serves the page until it closes the descriptor or ends. -1: errno; EWOULDBLOCK: another one does. */
int served_begin(void);
/* Locks again if the project's folder .trib was removed meanwhile. */
void served_renew(int *lock);
#endif
