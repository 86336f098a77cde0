/* Figures as people read them: "12.3 ms", "4.50 MiB", "1,234". */
#ifndef TRIB_BUILDER_PROFILE_FIGURES_H
#define TRIB_BUILDER_PROFILE_FIGURES_H
#include "builder/profile/profile.h"

#define FIGURE_SIZE 32
/* Write to `out` and return it. Three significant digits. */
const char *figure_text(enum metric_unit unit, double value, char out[FIGURE_SIZE]);
/* The same in `a`. */
const char *figure_new(struct arena *a, enum metric_unit unit, double value);
/* "+12.3 %": what a ratio adds to 1. */
const char *figure_change(double ratio, char out[FIGURE_SIZE]);
/* Reads "50ms", "500MB" or "1.2". False: it is none of them, or negative. */
bool figure_parse(const char *text, enum metric_unit *unit, double *value);
#endif
