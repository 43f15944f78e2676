/* web_search and web_read of one room: the service of the settings, and pages past the guard. What
 * they give is text of strangers, in a fence of a random mark.
 *
 * After such text only addresses that a search returned in this room are read: any other one could
 * carry what was said in the room to whoever wrote the text. */
#ifndef CONTROL_TOOLS_BUILTIN_WEB_H
#define CONTROL_TOOLS_BUILTIN_WEB_H

#include <stdbool.h>
#include <stdint.h>

struct builtin_web;
struct settings;
struct tool_host;

/* True if the settings have a service for searches; then *service, an enum search_service. */
bool builtin_web_service(const struct settings *s, unsigned *service);

/* Gives the host a link of the turn, unless the address is malformed. title, url: untrusted. */
void builtin_web_link(const struct tool_host *host, uint32_t turn, const char *title,
		      const char *url);

/* host is borrowed. ENOMEM. Caller owns *out. */
int builtin_web_alloc(struct builtin_web **out, const struct tool_host *host);
/* Ends what is under way without outputs. */
struct builtin_web *builtin_web_free(struct builtin_web *w);
/* Ends a call without an output. */
void builtin_web_cancel(struct builtin_web *w, uint32_t id);

#endif
