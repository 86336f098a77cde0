/* Name resolution: reports names, types and attributes that nothing defines, also in code that is never elaborated. */
#ifndef TRIB_FRONTEND_NAMES_RESOLVE_H
#define TRIB_FRONTEND_NAMES_RESOLVE_H

struct frontend;
struct module;
void resolve_module(struct frontend *f, struct module *m);
/* Warns about unused imports. Call it after all modules are resolved. */
void resolve_warn_imports(struct frontend *f, const struct module *m);
#endif
