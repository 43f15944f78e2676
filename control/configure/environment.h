/* Gathers the settings from the settings file and the process environment, and secrets from
 * variables or from files that variables or the settings file name. */
#ifndef CONTROL_CONFIGURE_ENVIRONMENT_H
#define CONTROL_CONFIGURE_ENVIRONMENT_H

#include <stddef.h>

struct settings;

/* The settings file, if it exists and no other is named. */
#define ENVIRONMENT_CONFIG "/etc/parley/parley.json"

/* The value of NAME, else the first line of the file named by NAME_FILE, else of the file config
 * ("" for none), into buf (size with NUL). ENOENT when none is given, ENODATA, EMSGSIZE, EINVAL, or
 * the errno of reading the file. buf is a NUL-terminated text in every case. */
int environment_secret(const char *name, const char *config, char *buf, size_t size);
/* Why there is no usable secret NAME, and what to do, as part of a sentence. */
void environment_secret_fault(const char *name, const char *config, char *buf, size_t size);

/* "FILE:LINE: what is wrong" */
typedef void(environment_fault_h)(const char *text, void *arg);

/* Reads defaults, then the settings file (config, else ENVIRONMENT_CONFIG if it exists), then the
 * environment. Passes every fault of the file, and every value of the environment that the setting
 * cannot have, to h and then returns EINVAL, with *out as it is without the faulty values. Clamps
 * and logs numbers of the environment that are out of their range; logs a secret's file that cannot
 * be read. Registers secrets with log_secret. ENOMEM: *out is not written. Caller owns *out. */
int environment_settings(struct settings **out, const char *config, environment_fault_h *h,
			 void *arg);

/* Calls h with a sentence for each secret, except the bot's token, whose named file cannot be used.
 */
void environment_secret_faults(const struct settings *s, environment_fault_h *h, void *arg);

/* Calls h with a sentence for each value of the environment that is clamped, or of a secret and not
 * used. config: as for environment_settings; faults of the file are not told. ENOMEM. */
int environment_replaced(const char *config, environment_fault_h *h, void *arg);

/* Calls h for each variable that begins with PARLEY_ and is not a setting; likely: the setting that
 * may have been meant, or NULL. */
typedef void(environment_unknown_h)(const char *name, const char *likely, void *arg);
void environment_unknown(environment_unknown_h *h, void *arg);

#endif
