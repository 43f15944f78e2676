/* What the files of a line ask of each other. All of it is the audio thread's. */
#ifndef MEDIAD_ENGINE_LINE_INSIDE_H
#define MEDIAD_ENGINE_LINE_INSIDE_H

#include "mediad/engine/line.h"

/* ---- line.c ---- */
/* An event that must arrive. */
void line_tell(struct line *l, const struct ev *ev);
/* Sends one datagram; true when the kernel took it. */
bool line_send(struct line *l, const uint8_t *p, size_t n);
/* The slot of an SSRC or NULL. */
struct slot *line_slot(const struct line *l, uint32_t ssrc);
bool line_has_slot(const struct line *l, const struct slot *s);

/* ---- line_tx.c ---- */
void line_sender_event(const struct sender_event *e, void *line);
/* Starts the sender unless it runs, is muted or has no key; halts it. */
void line_speak(struct line *l);
void line_hush(struct line *l);
/* Saves the start of an utterance a tick. */
void line_prepare(struct line *l);
void line_lane_command(struct line *l, const struct cmd *c);
/* A lane that the sender does not have goes back as stopped. */
void line_lane_lost(struct line *l, struct lane *lane);
void line_tell_progress(struct line *l, uint64_t now);
void line_send_due(struct line *l, uint64_t now);

/* ---- line_rx.c ---- */
/* Hears packets that were held for a freshly mapped SSRC. */
void line_unhold(struct line *l, struct slot *s);
/* Tries those again that waited for a key. */
void line_retry(struct line *l, struct slot *s);
/* At each tick: goes on with that, for all who have more than could be heard at once. */
void line_catch_up(struct line *l);
/* Held packets of this SSRC, or all (0), are forgotten. */
void line_drop_held(struct line *l, uint32_t ssrc);
/* Those that have waited too long. */
void line_expire_held(struct line *l, uint64_t now);

/* ---- line_report.c ---- */
/* At each tick: what is due. */
void line_report(struct line *l, uint64_t now);
/* A report's counter as it came (NULL: it has none). False: that report was had already. */
bool line_report_fresh(struct line *l, uint32_t ssrc, const uint8_t *counter);
void line_forget_reports(struct line *l);
/* The slot takes over what is known of the reports of its SSRC. */
void line_reporter_named(struct line *l, struct slot *s);
/* RTCP that opened. */
void line_reported(struct line *l, const uint8_t *p, size_t n);

/* ---- line_dave.c ---- */
void line_dave_command(struct line *l, struct cmd *c);
/* A speaker's slot came. */
void line_dave_slot(struct line *l, struct slot *s);
/* The session is over: nothing is sent or accepted until the next one says how. */
void line_dave_close(struct line *l);
void line_dave_tick(struct line *l, uint64_t now);
/* When that is due although there is no session; UINT64_MAX = never. */
uint64_t line_dave_next(const struct line *l);

/* What of a packet goes out: as it is, or sealed into buf. False: nothing may. */
bool line_protect(struct line *l, const struct sender_packet *pkt, uint8_t *buf, size_t cap,
		  struct slice *out);
/* It is known what may be accepted of this speaker. */
bool line_may_open(struct line *l, struct slot *s);
/* A packet of s, which came at `at`, did not open. */
void line_refused(struct line *l, struct slot *s, uint64_t at);
/* One opened, with a key of this epoch (0: it was in the clear). */
void line_opened(struct line *l, struct slot *s, uint64_t epoch);
/* Whether s is heard is no question any more. */
void line_heard_again(struct line *l, struct slot *s);
void line_spell_stats(struct line *l, const struct slot *s, struct slot_stats *out);

#endif
