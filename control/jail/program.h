/* A program of a settings record as a child in the sandbox (jail.h), with the environment that the
 * record gives it and no other. */
#ifndef CONTROL_JAIL_PROGRAM_H
#define CONTROL_JAIL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/child.h"

struct env;

/* The texts are those of a record (control/settings/records.def) and borrowed until the program is
 * started. */
struct program {
	const char *bwrap;	 /* of the sandbox */
	const char *command;	 /* a JSON array */
	const char *read;	 /* a JSON array; "": none */
	const char *folder;	 /* "": none */
	const char *environment; /* a JSON object; "": empty */
	const char *secrets;	 /* a JSON object whose names are further variables */
	const char *values;	 /* a JSON object with their values */
	uint32_t memory_mib;	 /* that each of its processes may write; 0: no limit */
	bool network;
	bool once; /* it is not started again */
	size_t line_max;
	void (*readh)(size_t n, void *arg); /* as in child_conf */
	child_line_h *lineh;
	child_line_h *errorh; /* its stderr, which else goes to our log */
	bool log_errors;      /* it goes to our log beside errorh, too */
	child_state_h *stateh;
	void *arg;
};

/* Settings of a program: the members that an mcp_record and a worker_record share.
 */
#define PROGRAM_OF_RECORD(r)                                                                       \
	.command = (r)->command, .read = (r)->read, .folder = (r)->folder,                         \
	.environment = (r)->environment, .secrets = (r)->secrets, .values = (r)->values,           \
	.memory_mib = (r)->memory_mib, .network = (r)->network

/* EINVAL, E2BIG, ENOMEM. The caller owns *out. */
int program_start(struct child **out, struct env *env, const struct program *p);

#endif
