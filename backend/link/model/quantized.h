/* What quantizing did to a parameter. */
#ifndef TRIB_BACKEND_LINK_MODEL_QUANTIZED_H
#define TRIB_BACKEND_LINK_MODEL_QUANTIZED_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"

struct stream_result;

struct quantized {
	const char *name;          /* of the parameter */
	const struct tensor *type; /* of the trits or codes, in the parameter's shape */
	int64_t zeros;
	double scale; /* the mean of all scales; 1: the quantizer gives none */
	double error; /* |w - scale * codes| / |w|, Euclidean norms */
};
/* Compares the results of a piece, which are in the order of the weight, with the weight, the parameter `name`. Returns false if it quantizes none. */
bool quantized_measure(const struct tensor *weight, const struct stream_result *results, uint32_t n, const char *name,
		       struct quantized *out);
#endif
