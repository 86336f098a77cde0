#include "builder/cli/command.h"
#include "builder/watch/watch.h"

enum status cmd_watch(const struct options *o) { return watch_run(o, stdout, stderr); }
