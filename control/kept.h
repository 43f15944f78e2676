/* What is kept of people's words, by the settings of a server, as sentences of /privacy. Pure. */
#ifndef CONTROL_KEPT_H
#define CONTROL_KEPT_H

struct settings;
struct words;

/* Adds them. What no setting changes is not among them. */
void kept_tell(const struct settings *s, struct words *words);
/* Days for which control knows who spoke and how turns ended. */
unsigned kept_days(const struct settings *s);
/* Which providers get the sound, what is to be answered, and what is kept, by their names. Nothing
 * of what stays on this machine. */
void kept_tell_providers(const struct settings *s, struct words *words);

#endif
