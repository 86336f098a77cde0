static void scratch_e2(int64_t i0, int64_t i1, int64_t i2, float t, void *p6, int64_t n0)
{
	float *b6 = (float *)(p6);
	(void)i0;
	(void)i1;
	(void)i2;
	(void)n0;
	const float v0 = t;
	const float v1 = expf(v0);
	b6[i0 * (n0 * 8) + i1 * 8 + i2] = v1;
}

#undef TRI_FIELDS
#define TRI_FIELDS int64_t M, int64_t K, int64_t N
#define TRI_NAME scratch_k2
#define TRI_BUFFERS , void *p6
#define TRI_DIMS , int64_t n0
#define TRI_STORE(batch, row, column, value) scratch_e2(batch, row, column, value, p6, n0)
static void TRI_NAME(const void *px, const void *pw TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const float *x = (const float *)px, *w = (const float *)pw;
	for (int64_t m = 0; m < M; m++)
		for (int64_t n = 0; n < N; n++) {
			float sum = 0, part = 0;
			for (int64_t k = 0; k < K; k++) {
				part += x[m * K + k] * w[k * N + n];
				if (k % 64 == 63) {
					sum += part;
					part = 0;
				}
			}
			TRI_STORE(0, m, n, sum + part);
		}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE

static void scratch(struct tri_run *run, void *const *io, const struct tri_slot *slots, const int64_t *n, unsigned char *scratch)
{
	(void)run, (void)io, (void)slots, (void)n, (void)scratch;
	const int64_t n0 = n[0];
	(void)n0;
	tri_matmul_f32(io[0], tri_weight(run, &slots[0]), scratch + 0, n0, 8, 8);
	tri_matmul_f32(scratch + 0, tri_weight(run, &slots[0]), scratch + (tri_floordiv_int64_t((n0 + 1), 2) * 64), n0, 8, 8);
	scratch_k2(scratch + (tri_floordiv_int64_t((n0 + 1), 2) * 64), tri_weight(run, &slots[0]), scratch + 0, n0, 8, 8, n0);
	tri_matmul_f32(scratch + 0, tri_weight(run, &slots[0]), io[1], n0, 8, 8);
}

static int64_t scratch_scratch(const int64_t *n)
{
	int64_t most = 0;
	(void)n;
	const int64_t n0 = n[0];
	(void)n0;
	return tri_size_add(most, tri_size_mul(tri_size_floordiv(tri_size_add(n0, 1), 2), 128));
}

