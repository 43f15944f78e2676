#include "control/jail/jail.h"

#include <errno.h>

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
	static const char *const after[] = {"--proc",	"/proc",   "--dev", "/dev",  "--tmpfs",
					    "/tmp",	"--perms", "0700",  "--dir", "/home",
					    "--setenv", "HOME",	   "/home", NULL};
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
	add(&l, "--");
	if (jail->memory) {
		add(&l, "/usr/bin/prlimit");
		add(&l, jail->memory);
		add(&l, "--");
	}
	add_all(&l, jail->command);
	if (l.n >= JAIL_ARGS_MAX)
		return E2BIG;
	argv[l.n] = NULL;
	return 0;
}
