/* A model's name is a type in its header, so no function of a standard header that a program may include has it. */
#include "backend/text/c/names.h"
#include <stdbool.h>
#include <string.h>

/* Each name is between blanks. */
static const char math_names[] = /* of double; those of float and long double have f and l at their ends */
	" acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi canonicalize cbrt ceil compoundn copysign cos cosh cospi drem erf erfc "
	"exp exp10 exp10m1 exp2 exp2m1 expm1 fabs fdim finite floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum "
	"fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp fromfp fromfpx gamma getpayload hypot ilogb isinf isnan j0 j1 jn ldexp lgamma "
	"llogb llrint llround log log10 log10p1 log1p log2 log2p1 logb logp1 lrint lround modf nan nearbyint nextafter nextdown nexttoward nextup pow "
	"pow10 pown powr remainder remquo rint rootn round roundeven rsqrt scalb scalbln scalbn setpayload setpayloadsig significand sin sincos sinh "
	"sinpi sqrt tan tanh tanpi tgamma totalorder totalordermag trunc ufromfp ufromfpx y0 y1 yn ";
static const char other_names[] =
	" double_t float_t lgamma_r lgammaf_r lgammal_r locale_t signgam basename bcmp bcopy bzero explicit_bzero ffs ffsl ffsll index memccpy memchr "
	"memcmp memcpy memfrob memmem memmove mempcpy memrchr memset memset_explicit rawmemchr rindex sigabbrev_np sigdescr_np stpcpy stpncpy strcasecmp "
	"strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r strerrordesc_np "
	"strerrorname_np strfry strlcat strlcpy strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal "
	"strspn strstr strtok strtok_r strverscmp strxfrm strxfrm_l "
	/* of headers that only the caller includes */
	"abort abs aligned_alloc asctime at_quick_exit atexit atof atoi atol atoll bsearch calloc clearerr clock clock_t ctime difftime div div_t exit "
	"fclose feof ferror fflush fgetc fgetpos fgets fopen fpos_t fprintf fputc fputs fread free freopen fscanf fseek fsetpos ftell fwrite getc getchar "
	"getenv gets gmtime isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit jmp_buf labs lconv ldiv "
	"ldiv_t llabs lldiv lldiv_t localeconv localtime longjmp malloc mblen mbstowcs mbtowc mktime perror printf putc putchar puts qsort quick_exit "
	"raise rand realloc remove rename rewind scanf setbuf setlocale setvbuf signal snprintf sprintf srand sscanf stderr stdin stdout strftime strtod "
	"strtof strtol strtold strtoll strtoul strtoull system time time_t timespec_get tmpfile tmpnam tolower toupper ungetc va_list vfprintf vfscanf "
	"vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb ";

/* `name`: its first `len` bytes. */
static bool names_has(const char *list, const char *name, size_t len)
{
	for (const char *at = list + 1; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == len && !strncmp(at, name, len))
			return true;
	return false;
}

const char *c_name_fault(const char *name)
{
	size_t len = strlen(name);
	bool variant = len && (name[len - 1] == 'f' || name[len - 1] == 'l') && names_has(math_names, name, len - 1);
	return variant || names_has(math_names, name, len) || names_has(other_names, name, len) ? "the C library has this name" : NULL;
}
