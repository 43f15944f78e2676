/* `control --check`: verifies what the bot needs before it starts, and says what to do about what
 * is missing. */
#ifndef CONTROL_CHECK_H
#define CONTROL_CHECK_H

struct control_conf;
struct env;
struct settings;

/* Prints one line per item, "ok|warning|missing  subject: detail", and the invite link, to stdout.
 * Runs env's loop. faults: the number of faults in the settings file and the environment that were
 * told before, warnings: of what check_replaced told. Returns 0 if nothing is
 * missing (warnings allowed), else 1. */
int check_run(struct env *env, const struct settings *settings, const struct control_conf *conf,
	      unsigned faults, unsigned warnings);
/* Prints a fault of the settings file or the environment as a line of the same form. */
void check_fault(const char *text);
/* Prints a value of the environment that is not used as it is given as a line of the same form, and
 * counts it in arg, an unsigned. */
void check_replaced(const char *text, void *arg);

#endif
