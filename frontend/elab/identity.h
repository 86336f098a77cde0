/* The identity of a unit, its interface, and its name for people. */
#ifndef TRIB_FRONTEND_ELAB_IDENTITY_H
#define TRIB_FRONTEND_ELAB_IDENTITY_H
#include "frontend/elab/unit.h"

/* Equal for equal definitions, compile-time arguments, element types, shapes and build-time flags. */
hash128 unit_identity(struct elab *e, const struct unit_spec *p);
/* A hash of the unit's interface: what callers see of it except its inputs. */
hash128 unit_interface(struct elab *e, const struct elab_unit *u);
/* A name for people. */
const char *unit_name(struct elab *e, const struct unit_spec *p);
#endif
