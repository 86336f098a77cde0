/* graph.html, embedded. */
#ifndef TRIB_BUILDER_QUERY_GRAPH_PAGE_H
#define TRIB_BUILDER_QUERY_GRAPH_PAGE_H
/* The page; the graph's JSON belongs where it has its mark. */
const char *graph_page(void);
#endif
