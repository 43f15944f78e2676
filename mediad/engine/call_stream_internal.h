/* Functions that the call_stream*.c files share. All of them run on the audio thread. */
#ifndef MEDIAD_ENGINE_CALL_STREAM_INTERNAL_H
#define MEDIAD_ENGINE_CALL_STREAM_INTERNAL_H

#include "mediad/engine/call_stream.h"
#include "mediad/video/codec.h"

/* ---- call_stream.c ---- */
/* Emits an event that must not be dropped. */
void call_stream_emit(struct call_stream *cs, const struct ev *ev);
/* Sends one datagram. Returns true when the kernel accepted it. */
bool call_stream_send_datagram(struct call_stream *cs, const uint8_t *p, size_t n);

/* A step begins: as much may be decoded as in one step. */
void call_stream_begin_step(struct call_stream *cs);

/* ---- call_stream_slots.c ---- */
/* Handler of a slot's audio_speaker; arg: struct slot. */
void call_stream_on_speaker_event(const struct audio_event *e, void *slot);
/* The slot of an SSRC, or NULL. */
struct slot *call_stream_find_slot(const struct call_stream *cs, uint32_t ssrc);
/* The slot of a user, or NULL. */
struct slot *call_stream_slot_of_user(const struct call_stream *cs, uint64_t user);
bool call_stream_has_slot(const struct call_stream *cs, const struct slot *s);
void call_stream_run_slot_command(struct call_stream *cs, struct cmd *c);
void call_stream_end_captures(struct call_stream *cs, enum media_reason reason);
/* Forgets the SSRC of every slot. */
void call_stream_unmap_all(struct call_stream *cs);

/* The speakers' tick has something to do at `due`: it comes no later than at the deadline after. */
void call_stream_hasten_tick(struct call_stream *cs, uint64_t due);
/* UDP does not work, by this sign: tells the loop thread, once a session. */
void call_stream_report_udp(struct call_stream *cs, enum path_loss why);

/* ---- call_stream_send.c ---- */
/* Handler of the sender; arg: struct call_stream. */
void call_stream_on_sender_event(const struct sender_event *e, void *stream);
/* Starts the sender, unless it runs, the call is muted or there is no transport key. */
void call_stream_start_sender(struct call_stream *cs);
void call_stream_halt_sender(struct call_stream *cs);
/* Prepares the next frame now instead of at the next tick, which makes an utterance start up to
 * 20 ms earlier. */
void call_stream_prepare_frame(struct call_stream *cs);
void call_stream_run_lane_command(struct call_stream *cs, const struct cmd *c);
/* Returns a lane that the sender does not hold, as stopped. */
void call_stream_return_lane(struct call_stream *cs, struct lane *lane);
void call_stream_report_progress(struct call_stream *cs, uint64_t now);

/* ---- call_stream_music.c ---- */
void call_stream_run_music_command(struct call_stream *cs, const struct cmd *c);
void call_stream_report_music(struct call_stream *cs, uint64_t now);
/* Returns all lanes of music, as stopped. */
void call_stream_return_music(struct call_stream *cs);

/* ---- call_stream_send.c ---- */
/* Sends the frame of a deadline that has come. */
void call_stream_send_due(struct call_stream *cs, uint64_t now);
/* Passes over deadlines at which there is nothing to send. */
void call_stream_pass_deadlines(struct call_stream *cs, uint64_t now);

/* ---- call_stream_receive.c ---- */
/* A packet was opened under the present key. counter: NULL where the mode has none. */
void call_stream_note_authentic(struct call_stream *cs, const uint8_t *counter);
/* Decodes the pending packets of an SSRC that has just been mapped to s. */
void call_stream_release_pending(struct call_stream *cs, struct slot *s);
/* Tries the pending packets of s again, because a key arrived. */
void call_stream_retry_pending(struct call_stream *cs, struct slot *s);
/* What may be accepted has changed: tries all pending packets again. */
void call_stream_retry_every_slot(struct call_stream *cs);
/* At each tick: continues that for every slot with more pending packets than one step decodes. */
void call_stream_retry_all_pending(struct call_stream *cs);
/* Drops the pending packets of this SSRC, or all of them (0). */
void call_stream_drop_pending(struct call_stream *cs, uint32_t ssrc);
/* Drops packets that have waited longer than CALL_STREAM_PENDING_MS. */
void call_stream_expire_pending(struct call_stream *cs, uint64_t now);

/* ---- call_stream_replay.c ---- */
/* True if a packet may be new, before it is decrypted. counter: NULL where the mode has none. */
bool call_stream_may_be_new(const struct arrivals *a, const uint8_t *counter, uint16_t seq);
/* Records an authentic packet. Returns false when it was received before. */
bool call_stream_accept_packet(struct arrivals *a, const uint8_t *counter, uint16_t seq,
			       uint64_t now);
/* Keeps the counters of an SSRC whose windows are given up. NULL: there was no such window. */
void call_stream_leave_source(struct call_stream *cs, uint32_t ssrc, const struct arrivals *a,
			      const struct nonces *reports);
/* Begins the windows of an SSRC, perhaps again. NULL: not this one. */
void call_stream_begin_source(const struct call_stream *cs, uint32_t ssrc, struct arrivals *a,
			      struct nonces *reports);
/* The key that they belong to has gone. */
void call_stream_forget_arrivals(struct call_stream *cs);

/* ---- call_stream_rtcp.c ---- */
/* At each tick: sends the report that is due. */
void call_stream_send_report(struct call_stream *cs, uint64_t now);
/* Records the nonce counter of an RTCP packet (NULL: the mode has none). Returns false when the
 * packet was received before. */
bool call_stream_accept_counter(struct call_stream *cs, uint32_t ssrc, const uint8_t *counter);
void call_stream_forget_counters(struct call_stream *cs);
/* Moves the counters of an unmapped reporter into the slot that now has its SSRC. */
void call_stream_adopt_reporter(struct call_stream *cs, struct slot *s);
/* Reads a decrypted compound packet. `proves` says that it is no recording, and so that the path
 * works. */
void call_stream_read_reports(struct call_stream *cs, const uint8_t *p, size_t n, bool proves);

/* ---- call_stream_dave.c ---- */
void call_stream_run_dave_command(struct call_stream *cs, struct cmd *c);
/* Gives a new slot the DAVE state of the call. */
void call_stream_init_slot_dave(struct call_stream *cs, struct slot *s);
/* The session ended: nothing is sent or accepted until the next session says how. */
void call_stream_close_dave(struct call_stream *cs);
void call_stream_tick_dave(struct call_stream *cs, uint64_t now);
/* When that is due while there is no session; UINT64_MAX = never. */
uint64_t call_stream_next_dave(const struct call_stream *cs);

/* Encrypts the payload into buf, or passes it through where the epoch is clear. Returns false if
 * the packet must not be sent. *out borrows buf or the packet. */
bool call_stream_encrypt(struct call_stream *cs, const struct sender_packet *pkt, uint8_t *buf,
			 size_t cap, struct slice *out);
/* The same of a frame of video; it is copied where the epoch is clear. */
bool call_stream_encrypt_video(struct call_stream *cs, enum video_codec codec, struct slice frame,
			       uint8_t *buf, size_t cap, size_t *len);
/* True if it is known yet which packets of this speaker may be accepted. */
bool call_stream_may_decrypt(struct call_stream *cs, struct slot *s);
/* A packet of s that arrived at `at` could not be decrypted. */
void call_stream_note_undecryptable(struct call_stream *cs, struct slot *s, uint64_t at);
/* A packet of s was decrypted with a key of this epoch (0: it came in the clear). */
void call_stream_note_decrypted(struct call_stream *cs, struct slot *s, uint64_t epoch);
/* The same of a frame of its video. It says nothing of sound that came meanwhile, which another key
 * may open, or none: it does not end an outage of that. */
void call_stream_note_undecryptable_video(struct call_stream *cs, struct slot *s, uint64_t at);
void call_stream_note_decrypted_video(struct call_stream *cs, struct slot *s, uint64_t epoch);
/* Ends a decryption outage of s, of which no more packets arrive, and reports its end. */
void call_stream_end_outage(struct call_stream *cs, struct slot *s);
void call_stream_outage_stats(struct call_stream *cs, const struct slot *s,
			      struct receiver_stats *out);

#endif
