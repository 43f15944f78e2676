/* The voice gateway, version 8 over TLS ("Voice Connections"; "Opcodes and Status Codes");
 * end-to-end encryption is in dave.h.
 *
 * A *session* is what a client gets for a lease (session id + token, one Identify). It outlives its
 * WebSocket for voice_resume_ms, with its stream in the relay and the messages a Resume may ask for
 * again. */
#ifndef GUILDD_VOICE_H
#define GUILDD_VOICE_H

#include "tests/guildd/guildd.h"

struct gd_voice;

/* Opens the TLS server on guildd's address. Caller owns *out. */
int gd_voice_alloc(struct gd_voice **out, struct guildd *g);
struct gd_voice *gd_voice_free(struct gd_voice *v);
/* "localhost:PORT", as in VOICE_SERVER_UPDATE. Borrowed. */
const char *gd_voice_endpoint(const struct gd_voice *v);

/* Ends the user's session: WebSocket closed with code, others told by op 13. Nothing when there is
 * none. */
void gd_voice_drop(struct gd_voice *v, uint64_t guild, uint64_t user, uint16_t code,
		   const char *reason);
/* Mute, deaf or suppress changed. */
void gd_voice_sync(struct gd_voice *v, const struct gd_vstate *state);

/* Faults for tests; user 0 means everybody, guild 0 everywhere. false when there is no such
 * WebSocket. */
bool gd_voice_close(struct gd_voice *v, uint64_t guild, uint64_t user, uint16_t code,
		    const char *reason);
bool gd_voice_abort(struct gd_voice *v, uint64_t guild, uint64_t user);
/* The WebSocket is half-open: it is answered no more, and stays until the client closes it. */
bool gd_voice_forget(struct gd_voice *v, uint64_t user);
/* Sends a message as the server to one user, sequenced when seq is true. */
bool gd_voice_send(struct gd_voice *v, uint64_t user, int op, json_t *d, bool seq);
/* Sends this text, or these bytes, as they are. False: the user has no connection. */
bool gd_voice_send_raw(struct gd_voice *v, uint64_t user, bool text, const void *data, size_t n);
/* What happens to the next `times` messages of this op to this user: "lose", "skip", "corrupt",
 * "delay" or "hold" (by ms); see voice_fault.h. op -1: any binary one. EINVAL. */
int gd_voice_fault(struct gd_voice *v, uint64_t user, int op, const char *what, unsigned times,
		   unsigned ms);
/* Forgets all faults. */
void gd_voice_reset(struct gd_voice *v);
/* For GET /stats; caller owns it. */
json_t *gd_voice_json(const struct gd_voice *v);
/* {session_id, token, secret_key in hex} of this user's session; NULL: it has none that is ready.
 */
json_t *gd_voice_secrets(const struct gd_voice *v, uint64_t user);

#endif
