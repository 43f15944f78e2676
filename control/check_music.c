/* Checks what music and shared screens need on this machine: readable folders, decoders that can be
 * jailed, the user's own downloader. */
#include "control/check_inside.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/engine/roles.h"
#include "control/library/walk.h"
#include "control/settings/settings.h"
#include "ipc/http_guard.h"
#include "ipc/spawn.h"
#include "proto/base/address_list.h"
#include "proto/media.h"
#include "proto/media_folder.h"

static void check_music_folder(struct check *c, const char *const *folders, unsigned n, unsigned i)
{
	const char *folder = folders[i];
	DIR *dir = *folder == '/' ? opendir(folder) : NULL;
	int outer = dir ? walk_find_outer(folders, n, i) : -1;

	if (dir && outer >= 0)
		check_say(c, CHECK_WARNING, "music folder",
			  "%s adds nothing: its files are found in %s", folder, folders[outer]);
	else if (dir)
		check_say(c, CHECK_OK, "music folder", "%s can be read", folder);
	else
		check_say(c, CHECK_WARNING, "music folder", "%s: %s", folder,
			  *folder == '/' ? strerror(errno)
					 : "it must begin with /; without that no folder "
					   "is searched");
	if (dir)
		closedir(dir);
}

/* The library opens them when control starts. One that does not begin with '/', or one too many,
 * takes away all of it. */
static void check_music_folders(struct check *c)
{
	char text[sizeof c->settings->music_folders], *rest = text, *folder;
	const char *folders[sizeof text / 2 + 1];
	unsigned n = 0;

	snprintf(text, sizeof text, "%s", c->settings->music_folders);
	while ((folder = strsep(&rest, ":")))
		if (*folder)
			folders[n++] = folder;
	for (unsigned i = 0; i < n; i++)
		check_music_folder(c, folders, n, i);
	if (n > WALK_FOLDERS)
		check_say(c, CHECK_WARNING, "music folder",
			  "music_folders has %u folders; with more than %u none is searched", n,
			  WALK_FOLDERS);
}

/* Runs it as mediad or control does, but for a moment. -1: it cannot be run, or is none of this
 * version; 0: its jail holds; 1: it does not. */
static int try_decoder(const char *program)
{
	const char *argv[] = {program, "--check-jail", NULL};
	static const char *const nothing[] = {NULL};
	struct spawned p;
	int status = 0;

	if (spawn_program(
		    &p, &(struct spawn_conf){.argv = argv, .environment = nothing, .errors = true}))
		return -1;
	waitpid(p.pid, &status, 0);
	spawn_close(&p);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return status == 0 || status == 1 ? status : -1;
}

/* They are started under this kernel in any case. */
static void check_decoder(struct check *c, const char *name, const char *what, const char *missing)
{
	char program[1024];
	int jail;

	if (spawn_find(name, program, sizeof program)) {
		check_say(c, CHECK_WARNING, what, "%s is not beside control or in PATH; %s", name,
			  missing);
		return;
	}
	jail = try_decoder(program);
	if (!jail)
		check_say(c, CHECK_OK, what, "%s can lock its decoders up: no files, no network",
			  program);
	else if (jail > 0)
		check_say(
			c, CHECK_WARNING, what,
			"filters of system calls (seccomp) cannot be installed here, so nothing is "
			"decoded. Use a kernel that has them; a container of mediad needs "
			"deploy/seccomp-mediad.json");
	else
		check_say(c, CHECK_WARNING, what, "%s cannot be run", program);
}

/* Said each time, so that nobody has it on without knowing. */
static void check_go_live(struct check *c)
{
	const struct settings *s = c->settings;

	if (*s->go_live_token && !s->go_live)
		check_say(c, CHECK_OK, "go_live",
			  "off: the token in go_live_token_file is not used");
	if (!s->go_live)
		return;
	if (!*s->go_live_token) {
		check_say(c, CHECK_MISSING, "go_live",
			  "it needs the token of an account in the file go_live_token_file");
		return;
	}
	if (strcmp(s->go_live_token, s->discord_token) == 0) {
		check_say(c, CHECK_MISSING, "go_live",
			  "go_live_token_file holds the bot's own token, and bots get no streams. "
			  "It needs that of a person's account");
		return;
	}
	check_say(
		c, CHECK_WARNING, "go_live",
		"the bot watches streams with the account of a person. Discord's terms forbid to "
		"automate such an account, and it may be closed for it. This was proven against a "
		"simulated Discord alone (docs/eyes.md)");
	if (!s->screen_watch)
		check_say(c, CHECK_WARNING, "go_live",
			  "screen_watch is off, so nothing is watched");
	check_decoder(c, "framed", "frame decoder", "no stream can be watched without it");
}

/* The place-th folder of the settings, from 0. */
static void check_root(struct check *c, const char *path, const char *folder, unsigned place,
		       const struct media_decoders *d)
{
	struct media_folder here = {0, 0}, there = {0, 0};
	struct stat st;

	if (d->folders.n < (place + 1) * MEDIA_FOLDER_BYTES) {
		check_say(c, CHECK_WARNING, "mediad music",
			  "%s has no --music-root for %s: start mediad with one for each folder of "
			  "music_folders, in the same order",
			  path, folder);
		return;
	}
	there = media_folder_get(d->folders.p + place * MEDIA_FOLDER_BYTES);
	if (stat(folder, &st) == 0)
		here = (struct media_folder){st.st_dev, st.st_ino};
	if (!there.number)
		check_say(c, CHECK_WARNING, "mediad music",
			  "%s cannot open its --music-root number %u, which has to be %s", path,
			  place + 1, folder);
	else if (here.number && !media_folder_is_same(&here, &there))
		check_say(c, CHECK_WARNING, "mediad music",
			  "%s: --music-root number %u is another folder than %s", path, place + 1,
			  folder);
	else
		check_say(c, CHECK_OK, "mediad music", "%s plays files of %s", path, folder);
}

/* list: the addresses that mediad was started with. */
static void check_addresses(struct check *c, const char *path, const struct slice *list)
{
	const char *rest = c->settings->web_read_allowed, *entry;
	char text[ADDRESS_LIST_BYTES];
	struct http_guard *guard = NULL;
	struct address_entry e;
	size_t n;

	snprintf(text, sizeof text, "%.*s", (int)list->n, (const char *)list->p);
	if (http_guard_alloc(&guard, text))
		return;
	while ((entry = address_list_next(&rest, &n)))
		if (address_entry_read(&e, entry, n) && !http_guard_connects(guard, &e))
			check_say(c, CHECK_WARNING, "mediad music",
				  "%s has no --music-address for %.*s: start mediad with "
				  "--music-address and the list of web_read_allowed",
				  path, (int)n, entry);
		else
			check_say(c, CHECK_OK, "mediad music", "%s reads %.*s", path, (int)n,
				  entry);
	http_guard_free(guard);
}

void check_music_of_mediad(struct check *c, const char *path, const struct media_decoders *d)
{
	const struct settings *s = c->settings;
	char folders[sizeof s->music_folders], *rest = folders, *folder;
	unsigned n = 0;

	if (!d->running && (*s->music_folders || s->music_web || *s->music_downloader)) {
		check_say(c, CHECK_WARNING, "mediad music",
			  "%s plays no music: start mediad with %s, and see in its log that "
			  "decoderd runs",
			  path,
			  *s->music_folders ? "--music-root DIR for each folder of music_folders, "
					      "in the same order"
					    : "--decoderd PROGRAM");
		return;
	}
	snprintf(folders, sizeof folders, "%s", s->music_folders);
	while ((folder = strsep(&rest, ":")))
		if (*folder)
			check_root(c, path, folder, n++, d);
	if (s->music_web && d->tells_addresses)
		check_addresses(c, path, &d->addresses);
}

/* decoderd opens it when control starts. */
static void check_sound_folder(struct check *c)
{
	const char *folder = c->settings->sound_folder;
	DIR *dir = *folder ? opendir(folder) : NULL;

	if (dir)
		check_say(c, CHECK_OK, "sound folder", "%s can be read", folder);
	else if (*folder)
		check_say(c, CHECK_WARNING, "sound folder", "%s: %s", folder, strerror(errno));
	if (dir)
		closedir(dir);
}

static void check_downloader(struct check *c)
{
	const char *program = c->settings->music_downloader;
	struct stat st;

	if (!*program)
		return;
	if (*program != '/')
		check_say(c, CHECK_WARNING, "music_downloader", "%s: it must begin with /",
			  program);
	else if (access(program, X_OK) || stat(program, &st))
		check_say(c, CHECK_WARNING, "music_downloader", "%s: %s", program, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		check_say(c, CHECK_WARNING, "music_downloader", "%s is no file", program);
	else
		check_say(c, CHECK_OK, "music_downloader", "%s can be run", program);
}

/* Where members can show a screen, which is on unless the settings say otherwise. */
static void check_screens(struct check *c)
{
	const struct settings *s = c->settings;

	if (!s->screen_watch)
		return;
	if (!*s->web_listen)
		check_say(c, CHECK_OK, "screens",
			  "members cannot show one: web_listen is empty, so /share has no page");
	else if (!*s->web_share_origin && !*s->web_origin)
		check_say(c, CHECK_OK, "screens",
			  "links of /share work on this machine alone; others need "
			  "web_share_origin, a public https address");
	if (*s->web_listen && !roles_see_screens(s))
		check_say(c, CHECK_WARNING, "screens",
			  "nobody sees what members show: no model of the roles voice, text or see "
			  "takes pictures; the role see may name one that does");
	if (*s->web_listen)
		check_decoder(c, "imaged", "picture decoder", "no screen can be shown without it");
}

void check_music(struct check *c)
{
	const struct settings *s = c->settings;

	check_music_folders(c);
	check_sound_folder(c);
	if (*s->music_folders || s->music_web || *s->music_downloader || *s->sound_folder)
		check_decoder(c, "decoderd", "music decoder", "it is needed for music and sounds");
	check_screens(c);
	check_go_live(c);
	check_downloader(c);
}
