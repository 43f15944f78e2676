/* Files that keep tokens of MCP servers: the sign-in of a server, which `control --mcp-login`
 * writes and control renews, and a refresh token that the operator gave. All are written beside
 * their place and renamed, mode 0600. */
#ifndef CONTROL_MCP_TOKEN_FILE_H
#define CONTROL_MCP_TOKEN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "control/dialect/oauth.h"

/* Texts are "" where there is none. Secret: wipe it after use. */
struct sign_in {
	char url[OAUTH_URL_MAX]; /* of the server that it is for */
	char issuer[OAUTH_URL_MAX];
	char resource[OAUTH_URL_MAX];
	struct oauth_client client;
	char access[OAUTH_TOKEN_MAX], refresh[OAUTH_TOKEN_MAX];
	uint64_t expires_ms; /* of the access token, since 1970; 0: not told */
};

/* The path of the sign-in of this server. EMSGSIZE. */
int sign_in_path(const char *state_dir, const char *server, char *out, size_t size);
/* ENOENT; EBADMSG: it is malformed; EACCES: it is the sign-in of another address; ENOMEM, or the
 * errno of reading. *out is as it was. */
int sign_in_read(const char *path, const char *url, struct sign_in *out);
/* Makes the folder. ENOMEM, or the errno of writing. */
int sign_in_write(const char *path, const struct sign_in *s);

/* Replaces the file by one with this text. The errno of writing. */
int token_file_write(const char *path, const char *text);

/* The value of this name among the values of a record (control/settings/record.h), "" where there
 * is none. The caller frees it with token_wipe. NULL without memory. */
char *token_of_record(const char *values, const char *name);
/* Wipes and frees; NULL accepted. */
void token_wipe(char *text);

#endif
