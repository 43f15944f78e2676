/* `control --journal FILE` and `control --replay FILE`: the first line of a journal says how
 * control was started, with placeholders for credentials; the replayer makes another control from
 * it and gives it the recorded inputs. */
#ifndef CONTROL_REPLAY_H
#define CONTROL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct control;
struct control_conf;
struct env;
struct journal;
struct settings;

/* The meta line: the settings, options and saved state that the replayer needs. With shapes, only
 * the program and its version. ENOMEM. Caller frees *out. */
int control_meta(char **out, const struct settings *settings, const struct control_conf *conf,
		 bool shapes);
/* Registers the secrets that the journal must not hold; call it right after env_alloc. ENOSPC,
 * ENOMEM. */
int control_secrets(struct env *env, const struct settings *settings, const char *web_token);
/* Makes the control and the source of its start and stop (control_input), in the same order live
 * and on replay. Errors of control_alloc. Caller owns *out. */
int control_make(struct control **out, uint32_t *source, struct env *env, struct settings *settings,
		 const struct control_conf *conf);

/* shapes: the file for the recording's shapes, or NULL. no_subscribers: runs the bus without
 * subscribers, which must not change the output. Prints the sums. Returns the value of journal_play
 * (ipc/journal_play.h), EBADMSG for a damaged journal or another program's, or the errno of the
 * file. */
int control_replay(const char *path, const char *shapes, bool no_subscribers);

#endif
