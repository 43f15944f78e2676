#include "control/mcp/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/dialect/json_read.h"

enum { FILE_MAX = 32 << 10 };

int sign_in_path(const char *state_dir, const char *server, char *out, size_t size)
{
	return snprintf(out, size, "%s/mcp/%s.json", state_dir, server) < (int)size ? 0 : EMSGSIZE;
}

static json_t *read_json(const char *path, int *err)
{
	char *text = malloc(FILE_MAX);
	FILE *f = text ? fopen(path, "re") : NULL;
	json_t *root = NULL;
	size_t n = 0;

	*err = f ? 0 : text ? errno : ENOMEM;
	if (f) {
		n = fread(text, 1, FILE_MAX, f);
		*err = ferror(f) ? EIO : 0;
		fclose(f);
	}
	if (!*err) {
		root = json_loadb(text, n, 0, NULL);
		*err = json_is_object(root) ? 0 : EBADMSG;
	}
	if (text)
		explicit_bzero(text, FILE_MAX);
	free(text);
	return root;
}

char *token_of_record(const char *values, const char *name)
{
	json_t *root = *values ? json_loads(values, 0, NULL) : NULL;
	const char *value = json_string_value(json_object_get(root, name));
	char *copy = strdup(value ? value : "");

	json_decref(root);
	return copy;
}

void token_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

/* EBADMSG: the text is too long. */
static int read_member(const json_t *root, const char *name, char *out, size_t size)
{
	if (!json_object_get(root, name))
		return 0;
	return json_read_copy(root, name, out, size);
}

int sign_in_read(const char *path, const char *url, struct sign_in *out)
{
	struct sign_in s = {0};
	int err;
	json_t *root = read_json(path, &err);
	json_int_t expires;

	if (!err)
		err = json_read_copy(root, "url", s.url, sizeof s.url);
	if (!err)
		err = json_read_copy(root, "issuer", s.issuer, sizeof s.issuer);
	if (!err)
		err = json_read_copy(root, "resource", s.resource, sizeof s.resource);
	if (!err)
		err = json_read_copy(root, "client_id", s.client.id, sizeof s.client.id);
	if (!err)
		err = read_member(root, "client_secret", s.client.secret, sizeof s.client.secret);
	if (!err)
		err = read_member(root, "access_token", s.access, sizeof s.access);
	if (!err)
		err = read_member(root, "refresh_token", s.refresh, sizeof s.refresh);
	expires = json_integer_value(json_object_get(root, "expires_ms"));
	s.expires_ms = expires > 0 ? (uint64_t)expires : 0;
	if (!err && strcmp(s.url, url) != 0)
		err = EACCES;
	if (!err)
		*out = s;
	explicit_bzero(&s, sizeof s);
	json_decref(root);
	return err;
}

static int set_member(json_t *root, const char *name, const char *value)
{
	return *value ? json_object_set_new(root, name, json_string(value)) : 0;
}

int sign_in_write(const char *path, const struct sign_in *s)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:I}", "url", s->url, "issuer", s->issuer,
				 "resource", s->resource, "client_id", s->client.id, "expires_ms",
				 (json_int_t)s->expires_ms);
	char folder[PATH_MAX], *text = NULL, *slash;
	int err = ENOMEM;

	if (root && !set_member(root, "client_secret", s->client.secret) &&
	    !set_member(root, "access_token", s->access) &&
	    !set_member(root, "refresh_token", s->refresh))
		text = json_dumps(root, JSON_INDENT(1));
	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	if (text)
		err = slash && mkdir(folder, 0700) && errno != EEXIST ? errno : 0;
	if (!err)
		err = token_file_write(path, text);
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	json_decref(root);
	return err;
}

int token_file_write(const char *path, const char *text)
{
	char beside[PATH_MAX];
	size_t n = strlen(text);
	int fd, err = 0;

	if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
		return ENAMETOOLONG;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	errno = 0;
	if (fchmod(fd, 0600) || write(fd, text, n) != (ssize_t)n || fsync(fd))
		err = errno ? errno : EIO;
	close(fd);
	if (!err && rename(beside, path))
		err = errno;
	if (err)
		unlink(beside);
	return err;
}
