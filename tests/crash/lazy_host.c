/* Opens a lazy model and calls it once: lazy_host FOLDER NAME ROWS COLUMNS OUTPUTS prints the result in hex. It exits with 1 and a
 * message on failure. */
#include <stdio.h>
#include <stdlib.h>
#include "tri_lazy.h"

int main(int argc, char **argv)
{
	tri_error err = {0};
	if (argc != 6)
		return 2;
	int64_t rows = atoi(argv[3]), columns = atoi(argv[4]), outputs = atoi(argv[5]);
	float *x = calloc((size_t)(rows * columns), sizeof *x), *y = calloc((size_t)(rows * outputs), sizeof *y);
	tri_lazy_model *m = x && y ? tri_open_lazy(argv[1], argv[2], NULL, &err) : NULL;
	for (int64_t i = 0; m && i < rows * columns; i++)
		x[i] = (float)(i % 7) - 3;
	tri_tensor io[] = {{.data = x, .shape = {rows, columns}, .rank = 2, .dtype = TRI_FLOAT32},
			   {.data = y, .shape = {rows, outputs}, .rank = 2, .dtype = TRI_FLOAT32}};
	int code = m ? m->desc->run(m->model, 0, io, &err) : err.code;
	for (int64_t i = 0; !code && i < rows * outputs * (int64_t)sizeof *y; i++)
		printf("%02x", ((unsigned char *)y)[i]);
	if (code)
		printf("%d: %s\n", code, err.message);
	tri_close_lazy(m);
	free(x);
	free(y);
	return code ? 1 : 0;
}
