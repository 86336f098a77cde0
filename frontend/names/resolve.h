/* Lexical names: reports names, types and attributes that nothing defines, also where the elaborator never comes. */
#ifndef TRIB_FRONTEND_NAMES_RESOLVE_H
#define TRIB_FRONTEND_NAMES_RESOLVE_H

struct frontend;
struct module;
void resolve_module(struct frontend *f, struct module *m);
/* After all modules are resolved: imports that nothing uses. */
void resolve_warn_imports(struct frontend *f, const struct module *m);
#endif
