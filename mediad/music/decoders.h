/* The decoders of mediad: decoderd, the shared memory of all rings, and which track uses which.
 *
 * Rings are mapped and decoderd is started by decoders_alloc, before the sandbox is in force; later
 * nothing but messages passes. A track is opened, read by the audio thread from its ring, and
 * closed; a seek or another source is another track. Each track that was opened ends with one ENDED
 * event unless it is closed before. A track whose decoder failed keeps what is in its ring, and its
 * end is set after that.
 *
 * Everything runs on env's loop thread, except the reader's side of a ring of sound. On replay
 * there is no process, and rings stay empty. */
#ifndef MEDIAD_MUSIC_DECODERS_H
#define MEDIAD_MUSIC_DECODERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"
#include "proto/base/cursor.h"

struct decoders;
struct env;
struct track_ring;
struct video_ring;

/* OPENED, LEVELS, TITLE (of a live stream), ENDED or ANALYSIS of a track. The ring may hold sound
 * before OPENED comes. msg is borrowed until return. The handler may open and close tracks. */
typedef void(decoder_event_h)(const struct decoder_msg *msg, void *arg);

struct decoders_conf {
	struct env *env;
	const char *program;	  /* name or path of decoderd */
	const char *const *roots; /* n_roots folders; at most DECODER_ROOTS */
	unsigned n_roots;
	const char *addresses; /* that sources may have although they are not public, or NULL */
	const char *log_level; /* as --log has it */
	bool log_json;
	/* decoderd ended, and every track is refused from now on; NULL accepted. */
	void (*losth)(void *arg);
	void *arg;
};

/* A program that cannot be started is no error: every track is refused then. EINVAL, ENOMEM. The
 * strings are borrowed until return. Caller owns *out. */
int decoders_alloc(struct decoders **out, const struct decoders_conf *conf);
/* What decoders that begin from now on write to the log; level: enum log_level. d NULL: nothing. */
void decoders_set_log(struct decoders *d, unsigned level, bool json);
/* False: every track is refused. d NULL: it has none. */
bool decoders_are_running(const struct decoders *d);
/* Closes the socket, at which decoderd ends. No ring may be in use. NULL accepted. */
struct decoders *decoders_free(struct decoders *d);

/* From a MUSIC_PLAY or MUSIC_NEXT; kind as enum media_music_kind. False: it cannot be played. */
bool decoder_source_set(struct decoder_source *out, uint8_t kind, uint8_t root, struct slice path,
			struct slice headers);
enum {
	DECODER_MEASURES = 1, /* finds the levels of a track whose tags do not give them */
	DECODER_IS_AHEAD = 2, /* another one plays before it: it takes no place that is kept free */
	DECODER_VIDEO = 4,    /* the video of the source, as it is stored, instead of its sound */
	DECODER_KEPT = 32,    /* places, so that whoever waits for sound gets some */
};
/* Opens a source at a frame and sets *track, which is never 0 and never used again. wants: of
 * DECODER_MEASURES, DECODER_IS_AHEAD and DECODER_VIDEO. h is called later, never from within.
 * Returns DECODER_REASON_UNKNOWN on success, otherwise the reason of the refusal; d NULL:
 * NO_DECODER. */
enum decoder_reason decoders_open(struct decoders *d, const struct decoder_source *source,
				  uint64_t start, unsigned wants, decoder_event_h *h, void *arg,
				  uint64_t *track);
/* The ring of a track, for its reader; valid until decoders_close. NULL for an unknown track, and
 * for one of the other kind. */
struct track_ring *decoders_ring(struct decoders *d, uint64_t track);
struct video_ring *decoders_video(struct decoders *d, uint64_t track);
/* The visualizer that was opened as this track shows the music of a server: decoders_show gives it
 * an analysis of what is heard there. */
void decoders_follow(struct decoders *d, uint64_t track, uint64_t guild);
void decoders_show(struct decoders *d, uint64_t guild, const struct analysis *a);
/* The decoder process of this track is to make analyses for the visualizer, or no longer. Until
 * then nobody makes any. Unknown tracks are ignored. */
void decoders_watch(struct decoders *d, uint64_t track, bool on);
/* The frame `at` of the ring's sound, a multiple of ANALYSIS_STEP, is played: its analysis, if
 * there is one, goes to the handler as ANALYSIS, in a step of its own. */
void decoders_ask_analysis(struct decoders *d, uint64_t track, uint64_t at);
/* Ends the track and gives its ring back, which nobody may read any more. No event follows. Unknown
 * tracks and 0 are ignored. */
void decoders_close(struct decoders *d, uint64_t track);

#endif
