/* Types and shapes of definitions on their own: generic sizes and arguments are symbols, what depends on them passes. */
#ifndef TRIB_FRONTEND_CHECK_H
#define TRIB_FRONTEND_CHECK_H

struct frontend;
struct item;
void check_item(struct frontend *f, struct item *it);
#endif
