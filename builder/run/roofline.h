/* A roofline as SVG: operations a second over operations a byte, a point for each statement. */
#ifndef TRIB_BUILDER_RUN_ROOFLINE_H
#define TRIB_BUILDER_RUN_ROOFLINE_H

struct profile;
struct buf;

/* Appends the picture. S. Williams et al., "Roofline: an insightful visual performance model", CACM 2009. */
void roofline_print(const struct profile *p, struct buf *out);
#endif
