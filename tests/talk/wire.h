/* The messages between the page and the bridge.
 *
 * From the page, as text: {"do":"join","name":"Ann","rate":48000,"muted":false} ·
 * {"do":"mute","on":true} ·
 * {"do":"leave"}; as binary: the microphone, s16le mono at that rate.
 *
 * To the page, as text: {"is":"room",…} the whole state of its person whenever it changes ·
 * {"is":"turn",…} an event about a turn from control · {"is":"chat","list":[{"name","text"}]} the
 * last messages ·
 * {"is":"trouble","text":…}; as binary: the user id of another member (u64, little-endian), then
 * its audio, s16le mono at 48 kHz. */
#ifndef TESTS_TALK_WIRE_H
#define TESTS_TALK_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum { WIRE_NAME_SIZE = 64, WIRE_ORDER_MAX = 512, WIRE_HEAD = 8 };

enum wire_do { WIRE_JOIN, WIRE_MUTE, WIRE_LEAVE };

struct wire_order {
	enum wire_do what;
	char name[WIRE_NAME_SIZE]; /* join: one plain line, may be empty */
	uint32_t rate;		   /* join */
	bool on;		   /* join: begins muted; mute */
};

/* EBADMSG for any other message. Writes *out only on success. */
int wire_order(const uint8_t *p, size_t n, struct wire_order *out);

/* An event of control as a message for the page, NULL when it is about no turn or another channel.
 * Caller owns. */
json_t *wire_turn(const char *text, size_t n, uint64_t channel);

/* True if a request comes from our page: Host is host:port, Origin http://host:port, host 127.0.0.1
 * or localhost. Another site's page, or a DNS name that points here, has others. */
bool wire_host(const char *host, uint16_t port);
bool wire_origin(const char *origin, uint16_t port);

#endif
