/* NULL-terminated arrays of strings, such as argv or header lines. */
#ifndef PROTO_BASE_STRV_H
#define PROTO_BASE_STRV_H

/* A copy of list, which may be NULL (the copy is then empty). NULL without memory. Caller owns it.
 */
char **strv_copy(const char *const *list);
/* Wipes (a header may carry a key) and frees. NULL accepted; returns NULL. */
char **strv_free(char **list);

#endif
