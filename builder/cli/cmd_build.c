#include "builder/cli/command.h"

enum status cmd_build(const struct options *o) { return build_run(o, stdout, stderr); }
