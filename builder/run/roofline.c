#include "builder/run/roofline.h"
#include <math.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "builder/profile/kernel_rows.h"

/* The picture in pixels, and the decades that its axes show. */
enum { WIDTH = 900, HEIGHT = 560, LEFT = 70, RIGHT = 20, TOP = 40, BOTTOM = 50 };
#define LEAST_INTENSITY 0.01
#define MOST_INTENSITY 10000.0
#define LEAST_RATE 1e8
#define MOST_RATE 1e16

static double x_of(double intensity)
{
	double at = log10(fmax(intensity, LEAST_INTENSITY) / LEAST_INTENSITY) / log10(MOST_INTENSITY / LEAST_INTENSITY);
	return LEFT + fmin(at, 1) * (WIDTH - LEFT - RIGHT);
}

static double y_of(double rate)
{
	double at = log10(fmax(rate, LEAST_RATE) / LEAST_RATE) / log10(MOST_RATE / LEAST_RATE);
	return HEIGHT - BOTTOM - fmin(at, 1) * (HEIGHT - TOP - BOTTOM);
}

static void put_grid(struct buf *out)
{
	for (double v = LEAST_INTENSITY; v <= MOST_INTENSITY * 1.01; v *= 10)
		buf_printf(out,
			   "<line class='g' x1='%.1f' y1='%d' x2='%.1f' y2='%d'/><text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n",
			   x_of(v), TOP, x_of(v), HEIGHT - BOTTOM, x_of(v), HEIGHT - BOTTOM + 18, v);
	for (double v = LEAST_RATE; v <= MOST_RATE * 1.01; v *= 10)
		buf_printf(out, "<line class='g' x1='%d' y1='%.1f' x2='%d' y2='%.1f'/><text x='%d' y='%.1f' text-anchor='end'>%g</text>\n",
			   LEFT, y_of(v), WIDTH - RIGHT, y_of(v), LEFT - 8, y_of(v) + 4, v / 1e9);
	buf_printf(out, "<text x='%d' y='%d' text-anchor='middle'>operations a byte</text>\n", WIDTH / 2, HEIGHT - 10);
	buf_printf(out, "<text transform='translate(16,%d) rotate(-90)' text-anchor='middle'>GOP/s</text>\n", HEIGHT / 2);
}

/* A slope at the memory's rate up to the ceiling, then the ceiling. */
static void put_roof(struct buf *out, double bytes, double operations, const char *name)
{
	double ridge = operations / bytes, first = fmax(LEAST_INTENSITY, LEAST_RATE / bytes);
	buf_printf(out, "<polyline class='r' points='%.1f,%.1f %.1f,%.1f %.1f,%.1f'/>\n", x_of(first), y_of(first * bytes), x_of(ridge),
		   y_of(operations), x_of(MOST_INTENSITY), y_of(operations));
	buf_printf(out, "<text x='%d' y='%.1f' text-anchor='end'>%s, %.0f GOP/s</text>\n", WIDTH - RIGHT - 4, y_of(operations) - 5, name,
		   operations / 1e9);
}

static void roofline_put_point(struct buf *out, struct arena *a, const struct profile *p, const struct kernel_row *row)
{
	double whole = kernel_whole(p), rate = row->operations / (row->ns / 1e9);
	if (row->operations <= 0 || row->ns <= 0)
		return;
	buf_printf(out, "<circle cx='%.1f' cy='%.1f' r='%.1f'><title>", x_of(row->intensity), y_of(rate),
		   3 + 12 * sqrt(whole > 0 ? row->ns / whole : 0));
	foreign_puts(out, FOREIGN_HTML, profile_item_path(a, p, row->item));
	buf_printf(out, ": %.3f ms, %.1f GOP/s, %.1f operations a byte</title></circle>\n", row->ns / 1e6, rate / 1e9, row->intensity);
}

void roofline_print(const struct profile *p, struct buf *out)
{
	struct arena *a = arena_new(0);
	uint32_t n;
	const struct kernel_row *rows = kernel_rows(a, p, &n);
	const struct ceilings c = kernel_ceilings(p);
	buf_printf(out, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>\n", WIDTH,
		   HEIGHT);
	buf_puts(
		out,
		"<style>.g{stroke:#ddd}.r{fill:none;stroke:#333;stroke-width:1.5}circle{fill:#1f77b4;fill-opacity:.55;stroke:#1f77b4}</style>\n");
	buf_printf(out, "<rect width='%d' height='%d' fill='#fff'/>\n<text x='%d' y='22' font-size='15'>", WIDTH, HEIGHT, LEFT);
	foreign_puts(out, FOREIGN_HTML, profile_setting(p, "models") ? profile_setting(p, "models") : "model");
	buf_puts(out, ": a circle for each statement, as large as its share of the time</text>\n");
	put_grid(out);
	put_roof(out, c.read_bytes, c.float_ops, "float32");
	put_roof(out, c.read_bytes, c.int8_ops, "int8");
	for (uint32_t i = 0; i < n; i++)
		roofline_put_point(out, a, p, &rows[i]);
	buf_puts(out, "</svg>\n");
	arena_free(a);
}
