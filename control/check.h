/* `control --check`: says what is missing before anything starts, and what to do about it. */
#ifndef CONTROL_CHECK_H
#define CONTROL_CHECK_H

struct control_conf;
struct env;
struct settings;

/* Prints a line an item, "ok|warning|missing  what: detail", and the invite link, to stdout. Runs
 * env's loop. faults: how many there were in the settings file. 0: all is there (warnings allowed), 1: something is
 * missing. */
int check_run(struct env *env, const struct settings *settings, const struct control_conf *conf, unsigned faults);
/* Such a fault as a line of the same kind. */
void check_fault(const char *text);

#endif
