/* control --show DIR: the dashboard of an incident that somebody else may have made.
 *
 * It shows a copy of the database file and its WAL, with the settings' defaults. Nothing else of
 * DIR is read, so that its maker has no say in what control does (settings, servers of MCP, tokens,
 * sessions, links), and DIR stays as it was sent. Neither the settings file nor variables count,
 * except PARLEY_WEB_LISTEN, so that nothing of this machine meets what is shown. */
#ifndef CONTROL_SHOW_H
#define CONTROL_SHOW_H

#include <stdbool.h>

struct settings;

enum { SHOW_DIR = 128 };

struct show {
	char dir[SHOW_DIR]; /* a state directory of its own, in $TMPDIR or /tmp */
};

/* Copies the database of `incident`, to which nobody may write meanwhile. EINVAL: PARLEY_WEB_LISTEN
 * is no address; EBADMSG: it is no regular file or no database; EBUSY: a journal lies beside it,
 * because a write goes on or was interrupted; EFBIG; errors of db_open, mkdtemp and of copying.
 * Caller owns *settings, and calls show_close. */
int show_open(struct show *out, const char *incident, struct settings **settings);
/* Deletes the copy. */
void show_close(struct show *s);

/* SIGTERM, SIGINT and SIGHUP wait while the copy is made and deleted, which they would leave behind
 * otherwise. Of the calling thread, and of those that it starts from then on. */
void show_hold_signals(bool hold);

#endif
