#include "builder/profile/figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

struct step {
	double from;
	const char *unit;
};

static const char *scaled(double v, const struct step *steps, uint32_t n, char *out)
{
	uint32_t i = 0;
	while (i + 1 < n && fabs(v) < steps[i].from * 0.9995)
		i++;
	double x = v / steps[i].from;
	int digits = (i + 1 == n && x == floor(x)) || fabs(x) >= 100 ? 0 : fabs(x) >= 10 ? 1 : 2;
	snprintf(out, FIGURE_SIZE, "%.*f %s", digits, x, steps[i].unit);
	return out;
}

/* Separates thousands. */
static const char *counted(double v, char *out)
{
	char digits[FIGURE_SIZE];
	int n = snprintf(digits, sizeof digits, "%.0f", fabs(v)), at = 0;
	if (n > 15)
		return snprintf(out, FIGURE_SIZE, "%.3g", v), out;
	if (v < 0)
		out[at++] = '-';
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = 0;
	return out;
}

const char *figure_text(enum metric_unit unit, double value, char out[FIGURE_SIZE])
{
	static const struct step times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	static const struct step sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
	return unit == UNIT_NS ? scaled(value, times, 4, out) : unit == UNIT_BYTES ? scaled(value, sizes, 4, out) : counted(value, out);
}

const char *figure_new(struct arena *a, enum metric_unit unit, double value)
{
	char text[FIGURE_SIZE];
	return arena_strdup(a, figure_text(unit, value, text));
}

const char *figure_change(double ratio, char out[FIGURE_SIZE])
{
	double percent = (ratio - 1) * 100;
	snprintf(out, FIGURE_SIZE, fabs(percent) >= 99.95 ? "%+.0f %%" : "%+.1f %%", percent);
	return out;
}

static const struct {
	const char *text;
	enum metric_unit unit;
	double factor;
} units[] = {
	{"ns", UNIT_NS, 1},           {"us", UNIT_NS, 1e3},    {"ms", UNIT_NS, 1e6},      {"s", UNIT_NS, 1e9},
	{"min", UNIT_NS, 60e9},       {"B", UNIT_BYTES, 1},    {"kB", UNIT_BYTES, 1e3},   {"KB", UNIT_BYTES, 1e3},
	{"MB", UNIT_BYTES, 1e6},      {"GB", UNIT_BYTES, 1e9}, {"KiB", UNIT_BYTES, 1024}, {"MiB", UNIT_BYTES, 1 << 20},
	{"GiB", UNIT_BYTES, 1 << 30}, {"", UNIT_COUNT, 1},
};

bool figure_parse(const char *text, enum metric_unit *unit, double *value)
{
	char *end;
	double v = strtod(text, &end);
	if (end == text || !isfinite(v) || v < 0)
		return false;
	for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(end, units[i].text) == 0) {
			*unit = units[i].unit;
			*value = v * units[i].factor;
			return true;
		}
	return false;
}
