/* The units of a model as program passes see them (passes/program): summaries of the units, parameters of the entries, decisions of the passes. In text, for a
 * unit that calls a convolution and appends to a state:
 *
 *   params 1 float32
 *   unit @block_5f1a2b3c4d5e6f70 00112233445566778899aabbccddeeff
 *     in float32 rank 4 group 0
 *     in float16 rank 4 along 2                          a state that grows along dim 2
 *     known float32 rank 4                               an input that is known when the library is built
 *     conv float32 group 0 group 1 keeps                 by weights of this type; it keeps the first two dims
 *     call @conv_0123456789abcdef 0123… (group 1, weight 0) (group 2)
 *     out float32 rank 4 group 2
 *     out float16 rank 4 input 1 along 2 next 1          input 1 with rows appended, the next value of that state
 *   entry @block_5f1a2b3c4d5e6f70 - - 0                  what each input is: - or a parameter
 *
 * lower/summary.c makes a summary from the unit's tensor IR as it was lowered. The summary depends neither on the target nor on the bodies of callees.
 * A *group* is a set of values that are best stored in one layout: operations that keep the first two dims connect them. Decisions follow
 * in the same lines: `as channels_last`, `grows 1`, `updates 0`; `stored float16`, `shared`. */
#ifndef TRIB_BACKEND_IR_PROGRAM_H
#define TRIB_BACKEND_IR_PROGRAM_H
#include "backend/ir/ir.h"
#include "base/map.h"

/* What a unit passes to a callee, or gives as an output. */
struct summary_value {
	uint32_t group;  /* IR_NONE: its rank is not 4, or it is known when the library is built */
	uint32_t weight; /* the WEIGHT whose elements it has; IR_NONE: none */
	bool is_cast, is_transposed;
	uint32_t call,
		number; /* the result of a call, or INPUT `number` if call is IR_NONE, as it is or with rows appended; number IR_NONE: neither */
	uint8_t along; /* the dim along which rows were appended, plus one; 0: none were */
};
enum table_use { READS_ROWS = 1, READS_COLUMNS = 2 };
struct summary_input {
	dtype elem;
	uint8_t rank;
	bool build_time;
	uint8_t grows; /* of a state the dim along which it grows, plus one; else 0 */
	uint32_t group;
	uint32_t reads; /* of a matrix known when the library is built: how lookups and products of the unit read it (table_use) */
};
struct summary_output {
	dtype elem;
	uint8_t rank;
	struct summary_value value;
	uint32_t next; /* the INPUT of the state whose next value it is; IR_NONE: none */
	uint32_t puts; /* it is this INPUT with a slice replaced, and nothing else reads either; IR_NONE: something else */
};
/* A convolution with weights that are known when the library is built. */
struct summary_conv {
	dtype elem; /* of the weights */
	uint32_t from, to;
	bool keeps; /* the first two dims of its input */
};
struct summary_callee {
	const char *symbol;
	hash128 identity;
	uint32_t unit; /* of the program; set by ir_program_add_unit */
};
struct summary_call {
	enum ir_op op;                       /* OP_CALL, OP_IF, OP_LOOP */
	struct summary_callee callee, other; /* other: of an IF; else its symbol is NULL */
	struct summary_value *operands;      /* as of the instruction: an IF and a LOOP have a condition first */
	uint32_t n_operands;
	uint32_t *results; /* the group of each result */
	uint32_t n_results;
};
struct unit_summary {
	const char *symbol;
	hash128 identity;
	struct summary_input *inputs;
	uint32_t n_inputs, n_groups;
	struct summary_output *outputs;
	uint32_t n_outputs;
	struct summary_call *calls;
	uint32_t n_calls;
	struct summary_conv *convs;
	uint32_t n_convs;
};

/* How a unit takes its INPUTs and gives its outputs. */
struct argument_layouts {
	uint32_t n_inputs, n_outputs;
	uint32_t *inputs, *outputs; /* enum layout */
	uint32_t *
		grows; /* for each output the INPUT whose memory it has, with room for more rows, of which it writes only the new ones; or IR_NONE */
	uint32_t *updates; /* for each output the INPUT whose memory it has, of which it writes a slice; or IR_NONE */
};
struct program_unit {
	const struct unit_summary *summary;
	bool is_entry, is_body; /* is_body: a branch or a loop calls it */
	uint32_t *weights;      /* for each WEIGHT its input */
	uint32_t n_weights;
	/* The decisions. Each has a row in decisions.def. */
	struct argument_layouts layouts;
	uint32_t *stored; /* for each WEIGHT the dtype in which the library holds it */
	uint32_t *shared; /* for each WEIGHT: a table that lookups and products with its transpose read */
};
struct program_entry {
	uint32_t unit;
	const uint32_t *params; /* for each input of the unit, or IR_NONE */
};
struct ir_program {
	struct arena *arena;
	struct program_unit *units; /* callees first */
	uint32_t n_units, cap_units;
	struct map by_identity; /* to the index; never iterated */
	struct program_entry *entries;
	uint32_t n_entries, cap_entries;
	dtype *params; /* the type of each parameter: first the one in the file; the pass `storage` changes it to the one in the library */
	uint32_t n_params, cap_params;
};

/* Returns a new program without units. It is in `a`, but for a map that ir_program_free frees. */
struct ir_program *ir_program_new(struct arena *a);
void ir_program_free(struct ir_program *p);
/* Adds a unit. Its layouts are plain, and its weights are stored as declared. Returns false if one of its callees was not added before. */
bool ir_program_add_unit(struct ir_program *p, const struct unit_summary *s);
void ir_program_add_entry(struct ir_program *p, uint32_t unit, const uint32_t *params);
void ir_program_add_param(struct ir_program *p, dtype type);

/* Returns the unit of p that is u, or NULL if p is NULL or lacks u. */
const struct program_unit *ir_program_find(const struct ir_program *p, const struct hir_unit *u);
/* Returns the layouts of the arguments and results of u. They have no items, which means plain, if p is NULL or lacks u. */
struct argument_layouts ir_program_layouts(const struct ir_program *p, const struct hir_unit *u);
/* Returns the layouts as a number, 0 if all are plain and nothing shares memory. */
uint64_t argument_layouts_code(struct argument_layouts l);
/* Returns all decisions of a unit as a number, 0 if there are none. The keys of plans and fragments of the unit and its callers contain it. */
uint64_t ir_program_code(const struct ir_program *p, const struct hir_unit *u);
/* Returns the layout of a state that grows, or LAYOUT_COUNT if the input is no such state. */
enum layout summary_state_layout(const struct summary_input *in);
/* Returns the index in s->inputs of INPUT `number`. */
uint32_t summary_run_input(const struct unit_summary *s, uint32_t number);

static inline enum layout argument_input(struct argument_layouts l, uint32_t k)
{
	return k < l.n_inputs ? (enum layout)l.inputs[k] : LAYOUT_PLAIN;
}
static inline enum layout argument_output(struct argument_layouts l, uint32_t k)
{
	return k < l.n_outputs ? (enum layout)l.outputs[k] : LAYOUT_PLAIN;
}
static inline uint32_t argument_grows(struct argument_layouts l, uint32_t k) { return k < l.n_outputs ? l.grows[k] : IR_NONE; }
static inline uint32_t argument_updates(struct argument_layouts l, uint32_t k) { return k < l.n_outputs ? l.updates[k] : IR_NONE; }

/* Writes p as text; reads such a text back. ir_program_read returns NULL after reporting an error. */
void ir_program_print(const struct ir_program *p, struct buf *out);
struct ir_program *ir_program_read(struct arena *a, const struct source *text, struct diags *diags);
/* Checks summaries and decisions. Returns false after writing what is wrong into `why`. */
bool ir_program_verify(const struct ir_program *p, struct buf *why);
#endif
