/* A program is a main block, or functions and a main block that calls them. Statements come from the tables of forms in grow_forms.h. What is known
 * of kinds and shapes may be wrong after a statement that does not check; the repair in fuzz_main.c sees to that. */
#include "tests/fuzz/fuzz.h"
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "tests/fuzz/grow_forms.h"

enum { MAX_VARS = 40, COUNT_OF_KINDS = 4 };
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

struct var {
	char kind; /* f i t b */
	int rank, dims[5];
};

struct grower {
	const uint8_t *at, *end;
	struct buf *out;
	struct var vars[MAX_VARS]; /* v0, v1, …: tensors in scope */
	int n, indent, first;      /* first: the first operand of the form at hand, or -1 */
	bool in_function, two;     /* two: the function gives (v0, v1) */
};

static int pick(struct grower *g, int n) { return g->at < g->end ? *g->at++ % n : 0; }

/* Lately made ones are the likelier. */
static int any(struct grower *g)
{
	int k = pick(g, g->n + 3);
	return k < g->n ? k : g->n - 1;
}

static void put(struct grower *g, const char *text) { buf_puts(g->out, text); }

static void line(struct grower *g)
{
	put(g, "\n");
	for (int i = 0; i < g->indent; i++)
		put(g, "    ");
}

static void put_var(struct grower *g, int v)
{
	if (g->first < 0)
		g->first = v;
	buf_printf(g->out, "v%d", v);
}

static void of_kind(struct grower *g, char kind)
{
	static const char *const casts[][2] = {
		{"f", "float32(v%d)"}, {"i", "int32(v%d)"}, {"t", "ternary_quantize(float32(v%d))"}, {"b", "(v%d > 0)"}};
	int from = any(g);
	for (int i = 0; i < g->n; i++) {
		int v = (from + i) % g->n;
		if (g->vars[v].kind == kind) {
			put_var(g, v);
			return;
		}
	}
	if (g->first < 0)
		g->first = from;
	for (int i = 0; i < COUNT(casts); i++)
		if (*casts[i][0] == kind)
			buf_printf(g->out, casts[i][1], from);
}

static bool alike(const struct var *a, const struct var *b)
{
	return a->kind == b->kind && a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

static void like_first(struct grower *g)
{
	int from = any(g), v = g->first;
	for (int i = 0; i < g->n; i++)
		if (alike(&g->vars[(from + i) % g->n], &g->vars[g->first])) {
			v = (from + i) % g->n;
			break;
		}
	buf_printf(g->out, "v%d", v);
}

static void fill(struct grower *g, const char *text);

static void condition(struct grower *g)
{
	static const char *const texts[] = {"$a.sum() > $k", "$b.any()",     "$b.all()",           "$i.max() >= $k",     "$f.min() < 0.5",
					    "$a.rank > $k",  "$a.size > $k", "$c && $a.sum() > 0", "$a.sum() < 3 || $c", "!($c)",
					    "$x == $k",      "true",         "$f.mean() > $s"};
	int first = g->first;
	g->first = 0;
	fill(g, texts[g->at < g->end ? pick(g, COUNT(texts)) : 0]);
	g->first = first;
}

/* Of the sizes up to the bracket that closes. */
static const char *fixed(struct grower *g, const char *sizes)
{
	char opens = sizes[-1];
	put(g, opens == '{' ? "int8((randn([" : opens == '<' ? "ternary_quantize(randn([" : "(randn([");
	for (; !strchr("]}>", *sizes); sizes++)
		buf_printf(g->out, *sizes == ' ' ? ", " : "%c", *sizes);
	buf_printf(g->out, "], seed=%d)", pick(g, 9));
	if (pick(g, 3))
		buf_printf(g->out, " + float32(v%d).sum()", any(g));
	put(g, opens == '{' ? ") * 3)" : ")");
	return sizes;
}

static const char *operand(struct grower *g, const char *s)
{
	int rank = g->first < 0 ? 0 : g->vars[g->first].rank;
	switch (*s) {
	case 'a': put_var(g, any(g)); break;
	case '=': like_first(g); break;
	case 'k': buf_printf(g->out, "%d", pick(g, 4)); break;
	case 'd': buf_printf(g->out, "%d", pick(g, 2 * rank + 1) - rank); break;
	case 's': buf_printf(g->out, "float32(v%d).sum()", any(g)); break;
	case 'x': buf_printf(g->out, "(int32(float32(v%d).sum()) %% %d)", any(g), 1 + pick(g, 3)); break;
	case 'c': condition(g); break;
	case '[':
	case '{':
	case '<': return fixed(g, s + 1);
	default: of_kind(g, *s);
	}
	return s;
}

static void fill(struct grower *g, const char *text)
{
	for (; *text && *text != '|'; text++)
		if (*text == '$')
			text = operand(g, text + 1);
		else
			buf_put(g->out, text, 1);
}

static void declare(struct grower *g, char kind, const char *shape)
{
	struct var is = g->first < 0 ? (struct var){0} : g->vars[g->first];
	if (*shape == '-')
		is.rank -= is.rank > 0;
	else if (*shape == '+' && is.rank < 5)
		is.dims[is.rank++] = 1;
	else if (*shape != '=')
		for (is.rank = 0; *shape; shape++)
			if (*shape != ' ')
				is.dims[is.rank++] = *shape - '0';
	if (kind != '=')
		is.kind = kind;
	g->vars[g->n++] = is;
}

/* Forms name their results after their operands are known: the text is made aside. */
static void let(struct grower *g, const struct form *f)
{
	struct buf value = {0}, *out = g->out;
	bool both = f->kinds[1];
	g->first = -1;
	g->out = &value;
	fill(g, f->text);
	g->out = out;
	line(g);
	buf_printf(out, both ? "let (v%d, v%d) = " : "let v%d = ", g->n, g->n + 1);
	buf_put(out, value.at, value.len);
	buf_free(&value);
	for (const char *k = f->kinds; *k; k++)
		declare(g, *k, f->shape);
}

static void make_layer(struct grower *g)
{
	const struct form *f = &layers[pick(g, COUNT(layers))];
	struct form call = {strchr(f->text, '|') + 1, f->kinds, f->shape};
	int at = g->n;
	line(g);
	buf_printf(g->out, "let m%d = ", at);
	fill(g, f->text);
	g->first = -1;
	line(g);
	buf_printf(g->out, "let v%d = m%d(", at, at);
	fill(g, call.text);
	put(g, ")");
	declare(g, *f->kinds, f->shape);
}

static void create(struct grower *g)
{
	static const char makers[][3][24] = {{"randn([", "rand([", "ones(["},
					     {"int32(rand([", "int8(randn([", "int64(ones(["},
					     {"random_ternary([", "ternary_weights([", "random_ternary(["},
					     {"0.0 < randn([", "0.5 < rand([", "0.0 < zeros(["}};
	struct var *v = &g->vars[g->n];
	int kind = pick(g, COUNT_OF_KINDS);
	const char *maker = makers[kind][pick(g, 3)];
	*v = (struct var){.kind = "fitb"[kind], .rank = pick(g, 4)};
	line(g);
	buf_printf(g->out, "let v%d = %s", g->n++, maker);
	for (int k = 0; k < v->rank; k++)
		buf_printf(g->out, k ? ", %d" : "%d", v->dims[k] = pick(g, 8) ? 1 + pick(g, 4) : 0);
	put(g, "]");
	if (strstr(maker, "rand") || strstr(maker, "tern"))
		buf_printf(g->out, ", seed=%d", pick(g, 9));
	put(g, kind == 1 ? ") * 7)" : ")");
}

static void statements(struct grower *g, int n, int depth);

static void assign(struct grower *g, int v)
{
	static const char *const texts[] = {"$= * 2",    "$= + $=", "where($= > 0, $=, $=)", "$=", "maximum($=, $=)", "$=[::-1]",
					    "early($=)", "-$="};
	line(g);
	buf_printf(g->out, "v%d = ", v);
	g->first = v;
	fill(g, texts[pick(g, COUNT(texts))]);
}

static void body(struct grower *g, const char *head, int assigned, int depth)
{
	static const char *const leaving[] = {"break", "continue", "return"};
	int n = g->n;
	put(g, head);
	g->indent++;
	statements(g, pick(g, 3), depth - 1);
	assign(g, assigned);
	int way = pick(g, 9);
	if (way < 2 || (way == 2 && g->in_function)) {
		line(g);
		put(g, "if ");
		condition(g);
		buf_printf(g->out, " { %s%s }", leaving[way], way < 2 ? "" : g->two ? " v0, v1" : " v0");
	}
	g->indent--;
	line(g);
	put(g, "}");
	g->n = n;
}

/* Control flow, of which conditions and trip counts are known at run time, or not. */
static void flow(struct grower *g, int depth)
{
	int assigned = any(g);
	line(g);
	switch (pick(g, 7)) {
	case 0:
		put(g, "if ");
		condition(g);
		body(g, " {", assigned, depth);
		break;
	case 1:
		put(g, "if ");
		condition(g);
		body(g, " {", assigned, depth);
		put(g, " else if ");
		condition(g);
		body(g, " {", any(g), depth);
		body(g, " else {", assigned, depth);
		break;
	case 2:
		buf_printf(g->out, "for i in 0..%d", pick(g, 7));
		body(g, " {", assigned, depth);
		break;
	case 3:
		put(g, "for i in 0..minimum(int32(");
		fill(g, "$s), 4)");
		body(g, " {", assigned, depth);
		break;
	case 4:
		fill(g, "for i in int32($x)..6:2");
		body(g, " {", assigned, depth);
		break;
	case 5:
		g->first = any(g);
		fill(g, "for t in [$=, $=]");
		body(g, " {", assigned, depth);
		break;
	default:
		buf_printf(g->out, "let n%d = tensor(0)", g->n);
		line(g);
		buf_printf(g->out, "while n%d < %d && ", g->n, pick(g, 6));
		condition(g);
		put(g, " {");
		g->indent++;
		line(g);
		buf_printf(g->out, "n%d += 1", g->n);
		g->indent--;
		body(g, "", assigned, depth);
	}
}

static void effect(struct grower *g)
{
	static const char *const texts[] = {"print($a.shape, int64($a).sum())",
					    "print(f\"{$i:>4d} {$f:.3f} {$a.shape} {$x:04d}\")",
					    "print($i, $b, $t)",
					    "print($a, $a.dtype, sep=\"|\")",
					    "assert $a.size >= 0 || $c, \"m\"",
					    "assert $c || true, f\"no: {$a}\"",
					    "assert $c, f\"not so: {$k}\"",
					    "print(f\"{$c} {$x=} {$i:+d}\", end=\";\")",
					    "print([$a.sum() for k in 0..2], ($s, $k))"};
	line(g);
	g->first = 0;
	fill(g, texts[pick(g, COUNT(texts))]);
}

static void statements(struct grower *g, int n, int depth)
{
	for (int i = 0; i < n && g->at < g->end && g->n < MAX_VARS - 3; i++) {
		int k = pick(g, 16);
		if (k < 9)
			let(g, &forms[pick(g, 256) % COUNT(forms)]);
		else if (k < 12 && depth)
			flow(g, depth);
		else if (k < 13)
			create(g);
		else if (k < 14 && !g->in_function)
			make_layer(g);
		else if (k < 15)
			effect(g);
		else
			assign(g, any(g));
	}
}

static void all_statements(struct grower *g, int most)
{
	while (g->at < g->end && g->n < most)
		statements(g, 1, 2);
}

static void function(struct grower *g)
{
	g->two = pick(g, 2);
	g->in_function = true;
	put(g, "fn f(v0, v1) {");
	g->vars[0] = (struct var){'f', 2, {2, 3}};
	g->vars[1] = (struct var){'f', 1, {3}};
	g->n = 2;
	all_statements(g, 20);
	line(g);
	put(g, g->two ? "return v0, v1\n}\n" : "return v0\n}\n");
	g->in_function = false;
}

void grow_program(const uint8_t *data, size_t size, struct buf *out)
{
	struct grower g = {.at = data, .end = data + size, .out = out, .indent = 1};
	int calls = pick(&g, 3);
	put(&g, "import nn\n");
	put(&g, helpers);
	if (calls)
		function(&g);
	put(&g, "main {");
	g.n = 0;
	create(&g);
	create(&g);
	if (calls)
		put(&g, "\n    print(f(randn([2, 3], seed=1), randn([3], seed=2)), f(zeros([2, 3]), ones([3])))");
	if (calls == 2)
		put(&g, "\n    print(f(int32(randn([2, 3], seed=1) * 9), tensor([3, -1, 2])))");
	all_statements(&g, 36);
	for (int i = 0; i < 3; i++)
		buf_printf(out, "\n    print(v%d)", i ? any(&g) : g.n - 1);
	put(&g, "\n}\n");
}
