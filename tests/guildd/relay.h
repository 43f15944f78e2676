/* The UDP side of the voice server: answers discovery and keepalives, validates the packets of
 * clients strictly, and forwards each packet to everyone else in the channel under the receiver's
 * own key and counter. */
#ifndef GUILDD_RELAY_H
#define GUILDD_RELAY_H

#include "tests/guildd/guildd.h"
#include "tests/guildd/rtp.h"

#include <netinet/in.h>

struct gd_relay;
struct gd_stream;

/* A stream sent sound without op 5; told once, a moment after the first such packet. */
typedef void(gd_unannounced_h)(void *arg);

/* Binds guildd's address on a free port. Caller owns *out; frees it after all its streams. */
int gd_relay_alloc(struct gd_relay **out, struct guildd *g);
struct gd_relay *gd_relay_free(struct gd_relay *r);
uint16_t gd_relay_port(const struct gd_relay *r);
/* Starts the sequence of losses and delays again. */
void gd_relay_seed(struct gd_relay *r, uint32_t seed);
/* Counters and the channel's streams for GET /stats; caller owns it. */
json_t *gd_relay_json(const struct gd_relay *r);
/* With record_forwarded: the sealed packets that went to this user, by sender; caller owns it. */
json_t *gd_relay_forwarded(const struct gd_relay *r, uint64_t user);
/* Sends these bytes to the streams of a user. False: none has an address yet. */
bool gd_relay_send_raw(struct gd_relay *r, uint64_t user, const uint8_t *p, size_t len);
/* Sets the counters to zero. */
void gd_relay_reset(struct gd_relay *r);

/* A client of the voice gateway, from Ready to its end. Caller owns *out. */
int gd_stream_alloc(struct gd_stream **out, struct gd_relay *r, uint64_t user, uint64_t channel,
		    gd_unannounced_h *h, void *arg);
struct gd_stream *gd_stream_free(struct gd_stream *s);
uint32_t gd_stream_ssrc(const struct gd_stream *s);
/* Select Protocol: sound goes to and must come from this address; the key is new, so are the
 * counters. */
int gd_stream_select(struct gd_stream *s, enum gd_mode mode, const uint8_t key[GD_KEY],
		     const struct sockaddr_in *addr);
/* op 5 came, whatever its flags say. */
void gd_stream_announce(struct gd_stream *s);
bool gd_stream_announced(const struct gd_stream *s);
/* Video, of clients of streams. Allots the SSRCs of the video and of its retransmissions. */
void gd_stream_video_open(struct gd_stream *s);
/* 0: none was allotted. */
uint32_t gd_stream_video_ssrc(const struct gd_stream *s);
uint32_t gd_stream_video_rtx(const struct gd_stream *s);
/* The payload types that this client has for the stream's codec; 0: none. */
void gd_stream_video_types(struct gd_stream *s, uint8_t pt, uint8_t rtx_pt);
/* Whether it told that it sends video; how much of it a viewer wants, 0 to 100. */
void gd_stream_video_sends(struct gd_stream *s, bool sends);
void gd_stream_video_wants(struct gd_stream *s, unsigned quality);
/* muted: nothing it sends is forwarded. deaf: nothing is forwarded to it. */
void gd_stream_flags(struct gd_stream *s, bool muted, bool deaf);

#endif
