/* State shared by the files of a link. Private to link*.c. */
#ifndef STANDINS_LINK_INSIDE_H
#define STANDINS_LINK_INSIDE_H

#include "tests/standins/frame.h"
#include "tests/standins/link.h"
#include "tests/standins/standin.h"

#include <event2/bufferevent.h>
#include <event2/event.h>

struct si_entry {
	struct si_entry *next;
	uint64_t due;
	struct si_plan plan;
	uint8_t *data;
};

enum si_link_state { SI_HEAD, SI_BODY, SI_ANSWER, SI_STREAM, SI_SOCKET };

/* A line with `at` of this session. */
struct si_timed {
	struct si_link *l;
	struct si_act act;
};

struct si_link {
	struct si_link *next;
	struct si_standin *st;
	const struct si_provider *provider;
	struct bufferevent *bev;
	uint32_t number;
	enum si_link_state state;
	bool dead, frozen, flushing, extra, close_sent, hold;
	struct event *reaper, *timer, *release;
	/* the request */
	char *head_text;
	struct http_head head;
	char *body;
	size_t body_n;
	struct si_acts connect; /* the trigger's */
	uint32_t retry_after_s; /* of the refusal that goes out; 0: it names no wait */
	struct si_timed timed[SI_LINK_ACTS];
	/* what came of a message that is not complete */
	uint8_t *message;
	size_t message_n;
	bool message_text;
	/* what goes out */
	struct si_entry *plans;
	uint32_t split;
	uint8_t *held; /* of a script, until the head of a stream goes out */
	size_t held_n;
	const struct si_session_ops *ops;
	void *session;
};

/* link.c */
void si_link_end(struct si_link *l); /* freed in a later turn */
void si_link_act(struct si_link *l, const struct si_act *act);
void si_link_write(struct si_link *l, const void *data, size_t n);
/* Sends what a script wants: in a session a message, in a stream a piece of the body. */
void si_link_insert(struct si_link *l, const void *data, size_t n);
void si_link_release(struct si_link *l); /* the head of the stream is out */
void si_socket_send(struct si_link *l, enum si_opcode opcode, const void *data, size_t n);
void si_socket_close(struct si_link *l, uint16_t code, const char *text, size_t n);

/* link_read.c */
void si_link_read(struct si_link *l);

/* link_plan.c */
void si_plans_flush(struct si_link *l);
void si_plans_free(struct si_link *l);

#endif
