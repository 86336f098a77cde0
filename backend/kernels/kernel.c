/* The table of the micro-kernels, which printers need too. */
#include "backend/kernels/kernel.h"
#include <string.h>
#include "backend/target/target.h"
#include "base/bug.h"

struct kernel_targets {
	uint32_t archs; /* a bit for each enum target_arch */
	enum cpu_level level;
	bool dense; /* only if the target has dense trits */
};

struct row {
	struct kernel_info info;
	enum kernel_family family;
	struct kernel_targets targets;
};

#define PROCESSORS (1u << ARCH_X86_64)
#define CPU {PROCESSORS, CPU_V2, false}
#define CPU_DENSE {PROCESSORS, CPU_V2, true}
#define CPU_VNNI {PROCESSORS, CPU_V4_VNNI, false}
#define DEVICES {PROCESSORS | 1u << ARCH_OPENCL, CPU_V2, false}
#define ONLY_DEVICES {1u << ARCH_OPENCL, CPU_V2, false}
#define ANY {~0u, CPU_V2, false}
#define ANY_LAYOUT KERNEL_ANY_LAYOUT
enum {
#define LAYOUT(id, ...) id = LAYOUT_##id,
#include "backend/ir/layouts.def"
#undef LAYOUT
	ROWS = KERNEL_ROWS
};
#define OPERANDS(...) {__VA_ARGS__}
#define AS(elem, layout) {DT_##elem, layout}
#define SAME(layout) {KERNEL_SAME_ELEM, layout}
#define NONE {KERNEL_NO_OPERAND, PLAIN}
#define WHOLE(name) NULL
#define FILLED(name) "tri_" #name "_filled"
static const struct row rows[] = {
#define KERNEL(name, record, fits, targets, operands, filled, cost) \
	[KERNEL_##name] = {{"tri_" #name, #fits, operands, filled(name), cost}, FAMILY_##record, targets},
#include "backend/runtime/kernels/kernels.def"
#undef KERNEL
};

const struct kernel_info *kernel_info(enum kernel k) { return &rows[k].info; }
enum kernel_family kernel_family(enum kernel k) { return rows[k].family; }
const struct kernel_record *kernel_record(enum kernel k) { return kernel_record_of(rows[k].family); }

bool kernel_has(enum kernel k, const char *operand)
{
	const struct kernel_operand *o = kernel_record(k)->operands;
	uint32_t at = 0;
	while (o[at].name && strcmp(o[at].name, operand) != 0)
		at++;
	return o[at].name && rows[k].info.operands[at].elem != KERNEL_NO_OPERAND;
}

bool kernel_is_of(enum kernel k, const struct target *t)
{
	const struct kernel_targets *of = &rows[k].targets;
	return (of->archs >> t->arch & 1) && t->level >= of->level && (t->dense_trits || !of->dense);
}

/* Returns the number of the operand that is a buffer of the call, or how many operands the kernel has. */
static uint32_t operand_of(enum kernel k, uint32_t buffer)
{
	const struct kernel_record *r = kernel_record(k);
	uint32_t at = 0;
	while (r->operands[at].name && (kernel_info(k)->operands[at].elem == KERNEL_NO_OPERAND || buffer-- > 0))
		at++;
	return at;
}

uint32_t kernel_buffer_count(enum kernel k)
{
	uint32_t n = 0;
	while (kernel_record(k)->operands[operand_of(k, n)].name)
		n++;
	return n;
}

const struct kernel_operand *kernel_operand(enum kernel k, uint32_t buffer)
{
	const struct kernel_operand *o = &kernel_record(k)->operands[operand_of(k, buffer)];
	BUG_ON(!o->name);
	return o;
}

dtype kernel_buffer_elem(enum kernel k, uint32_t buffer, const struct dims *d, const dim *dims)
{
	const struct kernel_operand *o = kernel_operand(k, buffer);
	int64_t v;
	return o->elem && dim_is_const(d, dims[o->elem - 1], &v) ? kernel_elem_of(v)
								 : (dtype)kernel_info(k)->operands[operand_of(k, buffer)].elem;
}

bool kernel_takes_layout(enum kernel k, uint32_t buffer, enum layout l, uint32_t rank)
{
	int want = kernel_layout(k, buffer);
	if (want == KERNEL_ANY_LAYOUT)
		return true;
	return want == KERNEL_ROWS ? l == LAYOUT_PLAIN || l == ir_layout_along(rank - 2, rank) : (int)l == want;
}

int kernel_layout(enum kernel k, uint32_t buffer) { return kernel_info(k)->operands[operand_of(k, buffer)].layout; }
int kernel_result_layout(enum kernel k) { return kernel_layout(k, kernel_buffer_count(k) - 1); }

bool kernel_takes_epilogue(enum kernel k) { return kernel_record(k)->tile[2].fields[0]; }

bool kernel_fails(enum kernel k)
{
	const struct kernel_record *r = kernel_record(k);
	return r->fields[r->n_fields - 1].type == FIELD_place;
}
