/* True if the sandbox works on this machine: one probe finds out. */
#ifndef CONTROL_JAIL_SANDBOX_H
#define CONTROL_JAIL_SANDBOX_H

#include <stdbool.h>

struct env;
struct sandbox;

/* triedh: the probe has ended, once. ENOMEM. Caller owns *out. */
int sandbox_alloc(struct sandbox **out, struct env *env, void (*triedh)(void *arg), void *arg);
struct sandbox *sandbox_free(struct sandbox *s);
/* Starts the probe unless it has already started. triedh may be called before this returns. */
void sandbox_try(struct sandbox *s);
bool sandbox_tried(const struct sandbox *s);
/* The path of bubblewrap; NULL before the probe has ended, or if no program can be jailed here. */
const char *sandbox_bwrap(const struct sandbox *s);

#endif
