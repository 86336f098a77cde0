/* The abilities of a stream: colours and redrawn lines. */
#ifndef TRIB_BASE_TERMINAL_H
#define TRIB_BASE_TERMINAL_H
#include <stdbool.h>

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* True if text for `fd` may have colours: `when` (the flag --color) decides, then NO_COLOR, CLICOLOR_FORCE and CLICOLOR
 * (bixense.com/clicolors), then whether it is a terminal that knows them. */
bool terminal_has_color(int fd, enum color_when when);
/* True if `fd` is a terminal that understands control sequences: not with TERM=dumb. */
bool terminal_can_redraw(int fd);
#endif
