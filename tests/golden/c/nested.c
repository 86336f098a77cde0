static void nested_k0(const void *p0, void *p1, void *p5, unsigned char *frame)
{
	const float *b0 = (const float *)(p0);
	float *b1 = (float *)(p1);
	float *b5 = (float *)(p5);
	for (int64_t i0 = 0; i0 < 4; i0++) {
		float b2[1];
		float *b3 = (float *)(frame + 0);
		float *b4 = (float *)(frame + 64);
		{
			const float v0 = 0.0f;
			b2[0] = v0;
		}
		for (int64_t i1 = 0; i1 < 2; i1++) {
			{
				for (int64_t i2 = 0; i2 < 11; i2++) {
					const float v0 = b0[i0 * 22 + i1 * 11 + i2];
					const float v1 = tri_tanh_float(v0);
					b3[i2] = v1;
				}
			}
			{
				const float v1 = b2[0];
				float a0 = 0;
				for (int64_t r0 = 0; r0 < 11; r0++) {
					const float v0 = b3[r0];
					a0 = a0 + v0;
				}
				const float v2 = a0;
				const float v3 = v1 + v2;
				b2[0] = v3;
				b4[i1] = v2;
			}
		}
		{
			const float v0 = b2[0];
			const float v1 = b4[0];
			const float v2 = v0 + v1;
			b5[i0] = v2;
		}
		{
			const float v0 = b5[i0];
			b1[i0] = v0;
		}
	}
}

static void nested_k1(const void *p5, void *p6)
{
	const float *b5 = (const float *)(p5);
	float *b6 = (float *)(p6);
	for (int64_t i0 = 0; i0 < 2; i0++) {
		for (int64_t i1 = 0; i1 < 4; i1++) {
			{
				const float v0 = b5[i1];
				b6[i0 * 4 + i1] = v0;
			}
		}
	}
}

static void nested(struct tri_run *run, void *const *io, const struct tri_slot *slots, const int64_t *n, unsigned char *scratch)
{
	(void)run, (void)io, (void)slots, (void)n, (void)scratch;
	nested_k0(io[0], io[1], scratch + 0, scratch + 64);
	nested_k1(scratch + 0, io[2]);
}

static int64_t nested_scratch(const int64_t *n)
{
	int64_t most = 0;
	(void)n;
	most = tri_size_max(most, 128);
	most = tri_size_max(most, 0);
	return tri_size_add(most, 64);
}

