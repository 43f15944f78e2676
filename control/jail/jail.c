#include "control/jail/jail.h"

#include <errno.h>

#define FOLDER_BYTES "268435456"
#define PROCESSES    "--nproc=512"
#define NICE	     "10" /* our own threads go first */

struct line {
	const char **argv;
	unsigned n;
};

static void add(struct line *l, const char *arg)
{
	if (l->n < JAIL_ARGS_MAX - 1)
		l->argv[l->n] = arg;
	l->n++;
}

static void add_all(struct line *l, const char *const *args)
{
	while (args && *args)
		add(l, *args++);
}

static void bind_read(struct line *l, const char *how, const char *path)
{
	add(l, how);
	add(l, path);
	add(l, path);
}

/* The rest of the root is read-only, and the program has limits. */
static void add_limits(struct line *l, const char *memory)
{
	/* Else both are temporary file systems without a limit of their own. */
	static const char *const sealed[] = {"--remount-ro", "/dev", "--remount-ro", "/",
					     "--",	     NULL};
	static const char *const limits[] = {"/usr/bin/nice",	 "-n",	    NICE,
					     "/usr/bin/prlimit", PROCESSES, NULL};

	add_all(l, sealed);
	add_all(l, limits);
	if (memory)
		add(l, memory);
	add(l, "--");
}

int jail_command(const struct jail *jail, const char *argv[JAIL_ARGS_MAX])
{
	static const char *const fixed[] = {"--unshare-all",
					    "--die-with-parent",
					    "--new-session",
					    "--cap-drop",
					    "ALL",
					    "--ro-bind",
					    "/usr",
					    "/usr",
					    "--symlink",
					    "usr/bin",
					    "/bin",
					    "--symlink",
					    "usr/sbin",
					    "/sbin",
					    NULL};
	static const char *const after[] = {
		"--proc",   "/proc", "--dev",	"/dev",	      "--size",	 FOLDER_BYTES,
		"--tmpfs",  "/tmp",  "--perms", "0700",	      "--size",	 FOLDER_BYTES,
		"--tmpfs",  "/home", "--size",	FOLDER_BYTES, "--tmpfs", "/dev/shm",
		"--setenv", "HOME",  "/home",	NULL};
	/* Libraries, what /usr/bin names through links, and what a program asks of any system. */
	static const char *const tried[] = {
		"/lib",		  "/lib64", "/lib32", "/etc/alternatives", "/etc/ld.so.cache",
		"/etc/localtime", NULL};
	static const char *const for_network[] = {"/etc/resolv.conf", "/etc/hosts",
						  "/etc/nsswitch.conf", "/etc/ssl", NULL};
	struct line l = {.argv = argv};

	if (!jail->command || !jail->command[0])
		return EINVAL;
	add(&l, jail->bwrap);
	add_all(&l, fixed);
	for (unsigned i = 0; tried[i]; i++)
		bind_read(&l, "--ro-bind-try", tried[i]);
	if (jail->network) {
		add(&l, "--share-net");
		for (unsigned i = 0; for_network[i]; i++)
			bind_read(&l, "--ro-bind-try", for_network[i]);
	}
	add_all(&l, after);
	for (unsigned i = 0; jail->read && jail->read[i]; i++)
		bind_read(&l, "--ro-bind", jail->read[i]);
	if (jail->folder) {
		bind_read(&l, "--bind", jail->folder);
		add(&l, "--chdir");
		add(&l, jail->folder);
	}
	add_limits(&l, jail->memory);
	add_all(&l, jail->command);
	if (l.n >= JAIL_ARGS_MAX)
		return E2BIG;
	argv[l.n] = NULL;
	return 0;
}
