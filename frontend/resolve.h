/* Lexical names: reports names, types and attributes that nothing defines, also where the elaborator never comes. */
#ifndef TRIB_FRONTEND_RESOLVE_H
#define TRIB_FRONTEND_RESOLVE_H

struct frontend;
struct module;
void resolve_module(struct frontend *f, struct module *m);
#endif
