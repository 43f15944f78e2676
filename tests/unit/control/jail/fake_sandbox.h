/* A bubblewrap for tests that runs the program without a jail, so that they pass where user
 * namespaces are off. */
#ifndef TESTS_UNIT_CONTROL_JAIL_FAKE_SANDBOX_H
#define TESTS_UNIT_CONTROL_JAIL_FAKE_SANDBOX_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes a program into the folder. */
static inline bool write_program(const char *dir, const char *name, const char *script, size_t n)
{
	char path[128];
	bool fine;
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	fine = fd >= 0 && write(fd, script, n) == (ssize_t)n;
	close(fd);
	return fine;
}

/* Puts it into the folder, and the folder before PATH, whose value goes to `path` to be restored.
 */
static inline bool fake_sandbox(const char *dir, char *path, size_t size)
{
	static const char script[] = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n"
				     "exec \"$@\"\n";
	char joined[4200];

	snprintf(path, size, "%s", getenv("PATH"));
	snprintf(joined, sizeof joined, "%s:%s", dir, path);
	return write_program(dir, "bwrap", script, sizeof script - 1) &&
	       setenv("PATH", joined, 1) == 0;
}

#endif
