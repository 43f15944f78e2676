/* Where the settings come from: the settings file, the process environment, and secrets from
 * variables or from files that variables or the settings file name. */
#ifndef CONTROL_ENVIRONMENT_H
#define CONTROL_ENVIRONMENT_H

#include <stddef.h>

struct settings;

/* Read when it is there and no other is named. */
#define ENVIRONMENT_CONFIG "/etc/parley/parley.json"

/* The value of NAME, else the first line of the file named by NAME_FILE, else of the file config
 * ("" for none), into buf (size with NUL). ENOENT when none is given, ENODATA, EMSGSIZE, EINVAL, or
 * the errno of reading the file. buf is a NUL-terminated text in every case. */
int environment_secret(const char *name, const char *config, char *buf, size_t size);
/* Why there is no usable secret NAME, and what to do, as part of a sentence. */
void environment_secret_fault(const char *name, const char *config, char *buf, size_t size);

/* "FILE:LINE: what is wrong" */
typedef void(environment_fault_h)(const char *text, void *arg);

/* Defaults, then the settings file (config, else ENVIRONMENT_CONFIG when there is one), then the
 * environment. What is wrong in the file goes to h, all of it, and EINVAL is returned at the end,
 * with *out as it is without that. Values in the environment that cannot be used are logged and
 * replaced (settings.h); a secret's file that cannot be read is logged. Secrets are registered with
 * log_secret. ENOMEM: nothing in *out. Caller owns *out. */
int environment_settings(struct settings **out, const char *config, environment_fault_h *h,
			 void *arg);

/* Variables that begin like ours and that nobody reads; likely: what may have been meant, or NULL.
 */
typedef void(environment_unknown_h)(const char *name, const char *likely, void *arg);
void environment_unknown(environment_unknown_h *h, void *arg);

#endif
