/* What is kept of people's words, by the settings of a server, as sentences of /privacy. Pure. */
#ifndef CONTROL_KEPT_H
#define CONTROL_KEPT_H

struct settings;
struct words;

/* Adds them. What no setting changes is not among them. */
void kept_tell(const struct settings *s, struct words *words);

#endif
