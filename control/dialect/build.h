/* Parts of messages and addresses that dialects share. Pure; needs jansson.h. */
#ifndef CONTROL_DIALECT_BUILD_H
#define CONTROL_DIALECT_BUILD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Steals root, which may be NULL. Caller frees; NULL without memory. */
char *build_text(json_t *root);
/* base + path, http and https being ws and wss in it; query values are added by build_query. Caller
 * frees; NULL without memory. */
char *build_socket_url(const char *base, const char *path);
/* Replaces *url by one with name=value (percent-encoded) behind it; NULL without memory. NULL
 * stays.
 */
void build_query(char **url, const char *name, const char *value);
/* head + pcm in base64 + tail. */
char *build_audio(const char *head, const uint8_t *pcm, size_t n, const char *tail);
/* "NAME: value" with a secret in it; NULL with value "" or without memory. */
char *build_header(const char *name, const char *value);

#endif
