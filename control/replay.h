/* `control --journal FILE` and `control --replay FILE`: the first line of a journal says how control was started, with
 * placeholders for credentials; the replayer makes another control from it and gives it the recorded inputs. */
#ifndef CONTROL_REPLAY_H
#define CONTROL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct control;
struct control_conf;
struct env;
struct journal;
struct settings;

/* The meta line: what the replayer must know of settings, options and what was kept. Of shapes only the program and
 * its version. ENOMEM. Caller frees *out. */
int control_meta(char **out, const struct settings *settings, const struct control_conf *conf, bool shapes);
/* Right after env_alloc: what may not get into the journal. ENOSPC, ENOMEM. */
int control_secrets(struct env *env, const struct settings *settings);
/* The control, and the source of its start and stop (control_input): in the same order live and on replay. Errors of
 * control_alloc. Caller owns *out. */
int control_make(struct control **out, uint32_t *source, struct env *env, struct settings *settings,
		 const struct control_conf *conf);

/* shapes: where to write the record's shapes to, or NULL. no_subscribers: nobody listens to the bus, which must change
 * nothing. Prints the sums. What journal_play gives (ipc/journal_play.h); EBADMSG a damaged journal or another program's;
 * errno of the file. */
int control_replay(const char *path, const char *shapes, bool no_subscribers);

#endif
