#include "base/terminal.h"
#include <stdlib.h>
#include <string.h>
#include "base/os.h"

static const char *variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value ? value : "";
}

bool terminal_can_redraw(int fd)
{
	const char *term = variable("TERM");
	return os_is_tty(fd) && *term && strcmp(term, "dumb") != 0;
}

bool terminal_has_color(int fd, enum color_when when)
{
	const char *force = variable("CLICOLOR_FORCE");
	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	if (*variable("NO_COLOR"))
		return false;
	if (*force && strcmp(force, "0") != 0)
		return true;
	return strcmp(variable("CLICOLOR"), "0") != 0 && terminal_can_redraw(fd);
}
