/* What a room asks of services by HTTP: a model that writes the answers and a voice that reads them out, when
 * reply_path is brain, and a judge of whom words were meant for. A shell: it performs effects of the room, and what
 * comes of them goes back as its events.
 *
 *   ASK, ASK_AGAIN, BRAIN_CANCEL   the model      BRAIN_TEXT … BRAIN_DONE or BRAIN_FAILED
 *   INSTRUCT                       nobody         INSTRUCTED: each ASK carries all there is to know
 *   SPEAK, SPEAK_CANCEL            the voice      SPEECH_AUDIO … SPEECH_DONE or SPEECH_FAILED
 *   CLASSIFY                       the model      JUDGED
 *
 * Everything runs on env's loop thread. What conf names is borrowed. The handler may be called from inside services_do.
 * Where no address is known, all of it fails. */
#ifndef CONTROL_SERVICES_H
#define CONTROL_SERVICES_H

#include <stdbool.h>

struct http;
struct room_effect;
struct room_event;
struct services;
struct settings;

struct services_conf {
	struct http *http;
	const struct settings *settings;
	void (*h)(const struct room_event *ev, void *arg);
	void *arg;
};

/* EINVAL, ENOMEM. Caller owns *out, and frees it outside the handler. */
int services_alloc(struct services **out, const struct services_conf *conf);
struct services *services_free(struct services *s);
/* False: that is for somebody else. */
bool services_do(struct services *s, const struct room_effect *effect);
/* The last answer of the model came. */
bool services_up(const struct services *s);

#endif
