/* A program is a main block, or functions and a main block that calls them. Statements come from tables of forms, in which `$` and a letter stands
 * for an operand:
 *   a any tensor   f i t b a tensor of floats, integers, trits, bools   = one like the first operand   k a small number   d a dimension of the first
 *   s a run-time float scalar   x a run-time integer   c a condition
 *   [2 3] floats {2 3} int8 <2 3> trits of that shape, with values known only at run time
 * What is known of kinds and shapes may be wrong after a statement that does not check; the repair in fuzz_main.c sees to that. */
#include "tests/fuzz/fuzz.h"
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"

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

struct form {
	const char *text, *kinds; /* a letter for each result; `=`: that of the first operand */
	const char *shape;        /* `=` the first operand's, `-` without a dimension, `+` with one more, else the sizes */
};

static const struct form forms[] = {
	/* the same shape again */
	{"relu($a)", "=", "="},
	{"-$a", "=", "="},
	{"abs($a)", "=", "="},
	{"$a + $=", "=", "="},
	{"$a - $=", "=", "="},
	{"$a * $=", "=", "="},
	{"$a + $k", "=", "="},
	{"$a * $k", "=", "="},
	{"$a // $k", "=", "="},
	{"$a % 3", "=", "="},
	{"$i % $=", "=", "="},
	{"$i // $=", "=", "="},
	{"$a ** $k", "=", "="},
	{"$a / 2", "f", "="},
	{"$a / $=", "f", "="},
	{"where($c, $a, $=)", "=", "="},
	{"where($a > 0, $=, 0)", "=", "="},
	{"where($b, 1.5, 0.25)", "f", "="},
	{"clip($a, -1, $k)", "=", "="},
	{"maximum($a, $=)", "=", "="},
	{"minimum($a, $k)", "=", "="},
	{"float32($a)", "f", "="},
	{"float64($f)", "f", "="},
	{"bfloat16($f)", "f", "="},
	{"float16($f)", "f", "="},
	{"int8($a)", "i", "="},
	{"int16($a)", "i", "="},
	{"int32($a)", "i", "="},
	{"int64($a)", "i", "="},
	{"softmax($f, $d)", "f", "="},
	{"log_softmax($f)", "f", "="},
	{"sigmoid($f)", "f", "="},
	{"tanh($f)", "f", "="},
	{"gelu($f)", "f", "="},
	{"silu($f)", "f", "="},
	{"hardswish($f)", "f", "="},
	{"softplus($f)", "f", "="},
	{"leaky_relu($f, 0.5)", "f", "="},
	{"exp(clip($f, -2, 2))", "f", "="},
	{"sqrt(abs($f))", "f", "="},
	{"log(abs($f) + 1)", "f", "="},
	{"log2(abs($f) + 1)", "f", "="},
	{"log10(abs($f) + 1)", "f", "="},
	{"sin($f)", "f", "="},
	{"cos($f)", "f", "="},
	{"tan(clip($f, -1, 1))", "f", "="},
	{"rsqrt(abs($f) + 1)", "f", "="},
	{"pow($a, $k)", "=", "="},
	{"ceil($f / 3)", "f", "="},
	{"relu6($a)", "=", "="},
	{"relu2($a)", "=", "="},
	{"hardsigmoid($f)", "f", "="},
	{"gelu($f, approximate=\"tanh\")", "f", "="},
	{"rms_norm($f)", "f", "="},
	{"layer_norm($f)", "f", "="},
	{"round($f * 3.0)", "f", "="},
	{"floor($f)", "f", "="},
	{"sign($a)", "=", "="},
	{"ternary_quantize($f)", "t", "="},
	{"ternary_activation($f, 0.25)", "t", "="},
	{"ternary_dequantize($t, 0.5)", "f", "="},
	{"threshold_quantize($f)", "t", "="},
	{"learned_quantize($f, 0.25)", "t", "="},
	{"stochastic_quantize($f)", "t", "="},
	{"ste_quantize($f, threshold=0.125)", "t", "="},
	{"soft_quantize($f, 0.5, hard=$c)", "f", "="},
	{"gumbel_softmax_quantize($f, temperature=2.0)", "f", "="},
	{"learned_quantize($f, 0.5, -0.25)", "t", "="},
	{"affine_dequantize($t, 0.5, 1)", "f", "="},
	{"stop_gradient($a)", "=", "="},
	{"ones_like($a) * 2", "=", "="},
	{"isfinite($f)", "b", "="},
	{"$a > $=", "b", "="},
	{"$a == $=", "b", "="},
	{"!($a > 0)", "b", "="},
	{"$b && $=", "b", "="},
	{"$b || $=", "b", "="},
	{"$t * $=", "t", "="},
	{"dropout($a)", "=", "="},
	{"$a[::-1]", "=", "="},
	{"$a.slice($d, -1, none, -1)", "=", "-"},
	{"(if $c { $a } else { $= })", "=", "="},
	{"($c ? $a : $= * 2)", "=", "="},
	{"stack([$a * k for k in 0..3]).select(0, $k)", "=", "="},
	{"early($a)", "=", "="},
	{"twice($a)", "=", "="},
	{"repeated($a, n=$k)", "=", "="},
	/* another shape */
	{"sum($a, dim=$d)", "=", "-"},
	{"$f.mean($d)", "f", "-"},
	{"$a.max($d)", "=i", "-"},
	{"$a.min($d, keepdim=true)", "=i", "="},
	{"argmin($a, dim=$d)", "i", "-"},
	{"$a.argmax()", "i", ""},
	{"$a.unsqueeze($d)", "=", "+"},
	{"$a.squeeze($d)", "=", "-"},
	{"$a.select($d, 0)", "=", "-"},
	{"$a.slice($d, 0, 1)", "=", "="},
	{"concat([$a, $=], dim=$d)", "=", "="},
	{"stack([$a, $=], dim=$d)", "=", "+"},
	{"$a.flatten($d)", "=", "-"},
	{"$b.all($d)", "b", "-"},
	{"$b.any($d, keepdim=true)", "b", "="},
	{"$a.split(1, $d)[0]", "=", "="},
	{"$a.chunk(2, $d)[0]", "=", "="},
	{"$a.prod($d)", "=", "-"},
	{"$f.std($d)", "f", "-"},
	{"$f.var($d, correction=0)", "f", "-"},
	{"$a.transpose($d, -1)", "=", "="},
	{"$a.moveaxis($d, 0)", "=", "="},
	{"$a.sum()", "=", ""},
	{"$a.max()", "=", ""},
	{"$f.mean()", "f", ""},
	{"$a.reshape(-1)", "=", "-"},
	{"$a[0]", "=", "-"},
	{"$a[-1]", "=", "-"},
	{"$a[$x]", "=", "-"},
	{"$a[..., 0]", "=", "-"},
	{"$a[..., none]", "=", "+"},
	{"$a[0:1]", "=", "="},
	{"$a[::2]", "=", "="},
	{"$a[1::-1]", "=", "="},
	{"$a[[0, 0]]", "=", "="},
	{"$a[$i % 1]", "=", "+"},
	{"$f @ $=.transpose(-2, -1)", "f", "="},
	{"pad($a, [1, 1])", "=", "="},
	{"pad($a, [-1, 2], value=$k)", "=", "="},
	{"pad($f, [1, 0], mode=\"replicate\")", "f", "="},
	{"$a.permute(1, 0)", "=", "="},
	{"outer($f, $=)", "f", "+"},
	{"dot($f, $=)", "f", ""},
	{"pack($t)", "i", "="},
	{"unpack(pack($t))", "t", "="},
	{"$a.repeat(2, 2)", "=", "="},
	{"expand($a.unsqueeze(0), 2, -1)", "=", "+"},
	{"$a.numel() + tensor($k)", "i", ""},
	{"gather($a, $d, int64($= > 0) * 0)", "=", "="},
	{"$a.index_select($d, tensor([0, 0]))", "=", "="},
	{"index_select($a, 0, $x)", "=", "-"},
	{"absmax_quantize($f)", "if", "="},
	{"absmean_quantize($f)", "tf", "="},
	{"xnor_quantize($f)", "tf", "="},
	{"adaptive_threshold_quantize($f, dim=$d)", "tf", "="},
	{"arange($k + 1)", "i", "2"},
	{"linspace(-1, 1, 3) * $s", "f", "3"},
	{"full([2, 3], $s)", "f", "2 3"},
	{"full([2, 3], $x)", "i", "2 3"},
	{"eye(3, 2) * $s", "f", "3 2"},
	{"ternary_weights([2, 3], sparsity=0.5)", "t", "2 3"},
	{"ternary_tensor([[1, 0], [-1, 1]])", "t", "2 2"},
	{"tensor([[1.5, $k], [-2, 0]])", "f", "2 2"},
	{"pair($a)", "=f", "="},
	{"search($a)", "i", ""},
	/* operands of shapes that fit */
	{"conv2d($[1 2 4 4], $[3 2 2 2], padding=$k)", "f", "1 3 3 3"},
	{"conv2d($[1 2 5 4], $<2 1 3 2>, stride=2, groups=2, padding=(1, 0))", "f", "1 2 3 2"},
	{"conv2d($[1 2 4 4], $<3 2 2 2>, $[3], dilation=2)", "f", "1 3 2 2"},
	{"conv2d(${1 2 4 4}, $<3 2 2 2>)", "i", "1 3 3 3"},
	{"conv1d($[1 2 6], $[2 2 3], padding=\"same\")", "f", "1 2 6"},
	{"conv1d($[1 4 6], $<4 1 3>, groups=4, stride=2)", "f", "1 4 2"},
	{"depthwise_conv2d($[1 2 4 4], $[2 1 3 3], padding=1)", "f", "1 2 4 4"},
	{"maxpool2d($[1 2 4 5], 2, ceil_mode=true)", "f", "1 2 2 3"},
	{"maxpool2d(${1 2 4 4}, 3, stride=1, padding=1)", "i", "1 2 4 4"},
	{"avgpool2d($[1 2 4 4], 3, stride=2, padding=1)", "f", "1 2 2 2"},
	{"avgpool2d($[1 2 4 5], 2, padding=1, ceil_mode=true, count_include_pad=false)", "f", "1 2 3 4"},
	{"avgpool2d($[1 2 4 4], (2, 3), divisor_override=5)", "f", "1 2 2 1"},
	{"maxpool2d($[1 2 5 5], (2, 3), stride=1, dilation=2)", "f", "1 2 3 1"},
	{"adaptive_avgpool2d($[1 2 5 4], (3, 2))", "f", "1 2 3 2"},
	{"global_avgpool($[1 2 3 3])", "f", "1 2 1 1"},
	{"upsample2d($[1 1 2 3], scale_factor=2, mode=\"bilinear\")", "f", "1 1 4 6"},
	{"upsample2d($[1 1 2 3], size=(3, 5), mode=\"bilinear\", align_corners=true)", "f", "1 1 3 5"},
	{"upsample2d($[1 1 2 3], size=(5, 2))", "f", "1 1 5 2"},
	{"pad($[2 3], [1, 2, 1, 1], mode=\"reflect\")", "f", "4 6"},
	{"batch_norm($[2 3 2], $[3], abs($[3]))", "f", "2 3 2"},
	{"group_norm($[2 4 2], 2, $[4])", "f", "2 4 2"},
	{"layer_norm($[2 3 4], [3, 4], $[3 4], $[3 4])", "f", "2 3 4"},
	{"embedding(int64(${2 2}) % 3, $[3 2])", "f", "2 2 2"},
	{"attention($[1 2 3 4], $[1 2 2 4], $[1 2 2 3])", "f", "1 2 3 3"},
	{"attention($[2 3 4], $[1 3 4], $[1 3 4], causal=true)", "f", "2 3 4"},
	{"attention($[1 2 3 4], $[1 1 2 4], $[1 1 2 3], mask=${3 2} > 0, scale=0.5)", "f", "1 2 3 3"},
	{"attention($[1 2 3 4], $[1 2 2 4], $[1 2 2 4], mask=$[3 2])", "f", "1 2 3 4"},
	{"rope($[2 3 4], positions=int32($s) % 5)", "f", "2 3 4"},
	{"rope($[3 4], interleaved=true)", "f", "3 4"},
	{"rope($[2 3 4], positions=2, base=100.0)", "f", "2 3 4"},
	{"einsum(\"ij,jk->ik\", $[2 3], $<3 2>)", "f", "2 2"},
	{"einsum(\"bii->b\", ${2 3 3})", "i", "2"},
	{"einsum(\"i,j,k->kji\", $[2], $[3], $[1])", "f", "1 3 2"},
	{"einsum(\"...ij->...ji\", $a)", "=", "="},
	{"$[2 3] @ $<3 4>", "f", "2 4"},
	{"${2 3} @ $<3 4>", "i", "2 4"},
	{"${2 3} @ ${3 2}", "i", "2 2"},
	{"ternary_matmul($[2 4], $<4 3>)", "f", "2 3"},
	{"$[2 1 3] @ $[3 2]", "f", "2 1 2"},
	{"cross_entropy($[2 3], int64(${2}) % 3, reduction=\"none\")", "f", "2"},
	{"cross_entropy($[2 3 2], int64(${2 2}) % 3, weight=abs($[3]), label_smoothing=0.1)", "f", ""},
	{"cross_entropy($[2 3], int64(${2}) % 3, ignore_index=1, reduction=\"sum\")", "f", ""},
	{"mse_loss($[2 3], $[2 3], reduction=\"none\")", "f", "2 3"},
	{"mse_loss($[2 3], $[2 3])", "f", ""},
	{"$[2 3] + $[3]", "f", "2 3"},
	{"${2 1} * ${1 3}", "i", "2 3"},
	{"where(${2 3} > 0, $[3], $s)", "f", "2 3"},
};

/* Layers that a main block makes and calls. */
static const struct form layers[] = {
	{"nn.Linear(3, 2)|$[2 3]", "f", "2 2"},
	{"nn.TernaryLinear(4, 2)|$[2 4]", "f", "2 2"},
	{"nn.TernaryLinear(4, 2, bias=false)|${2 4}", "i", "2 2"},
	{"nn.BitLinear(4, 2)|$[2 4]", "f", "2 2"},
	{"nn.Conv2d(2, 3, 3, padding=1)|$[1 2 3 3]", "f", "1 3 3 3"},
	{"nn.TernaryConv2d(2, 2, 2, stride=2)|$[1 2 4 4]", "f", "1 2 2 2"},
	{"nn.Sequential([nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4)])|$[2 3]", "f", "2 4"},
	{"nn.Embedding(4, 2)|int64(${3}) % 4", "f", "3 2"},
	{"nn.BatchNorm2d(2)|$[1 2 2 2]", "f", "1 2 2 2"},
	{"nn.MultiHeadAttention(4, 2)|$[1 3 4]", "f", "1 3 4"},
	{"nn.SwiGLU(4, 6)|$[2 4]", "f", "2 4"},
	{"Mixed(3)|$[2 3]", "f", "2 3"},
	{"Mixed(2, 3)|$[1 2]", "f", "1 2"},
};

static const char helpers[] =
	"fn twice<T: Numeric, S>(x: Tensor<T, S>) { return x + x }\n"
	"fn early(x) {\n    if float32(x).sum() > 1 { return x * 2 }\n    return x\n}\n"
	"fn repeated(x, n=2) {\n    let y = x\n    for i in 0..n { y = y + x }\n    return y\n}\n"
	"fn pair(x) { return x, float32(x).sum() }\n"
	"fn search(x) {\n    for i in 0..x.shape[0] {\n        if x[i].sum() > 0 { return i }\n    }\n    return 9\n}\n"
	"layer Mixed(n: int, depth: int = 1) {\n    param g: Tensor<float32, [n]> = ones([n])\n"
	"    let parts = [nn.Linear(n, n) for i in 0..depth]\n    let (trits, scale) = absmean_quantize(parts[0].weight)\n"
	"    fn forward(x: Tensor<float32, [M, n]>) {\n        for p in parts { x = p(x) * g }\n"
	"        while abs(x).max() > 1 { x = x * 0.5 }\n        return x @ trits * scale\n    }\n}\n";

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
