/* What the process environment says: the settings, and secrets from variables or the files that
 * variables name. */
#ifndef CONTROL_ENVIRONMENT_H
#define CONTROL_ENVIRONMENT_H

#include <stddef.h>

struct settings;

/* The value of NAME, else the first line of the file named by NAME_FILE, into buf (size with NUL).
 * ENOENT when neither is set, ENODATA, EMSGSIZE, EINVAL, or the errno of reading the file. buf is a
 * NUL-terminated text in every case. */
int environment_secret(const char *name, char *buf, size_t size);
/* Why there is no usable secret NAME, and what to do, as part of a sentence. */
void environment_secret_fault(const char *name, char *buf, size_t size);

/* Defaults, then the environment. Values that cannot be used are logged and replaced (settings.h);
 * a secret's file that cannot be read is logged. Secrets are registered with log_secret. ENOMEM.
 * Caller owns *out. */
int environment_settings(struct settings **out);

#endif
