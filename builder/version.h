/* The version of trib. */
#ifndef TRIB_BUILDER_VERSION_H
#define TRIB_BUILDER_VERSION_H
#define TRIB_VERSION "0.1.0"
#endif
