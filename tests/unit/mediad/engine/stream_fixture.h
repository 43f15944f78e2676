/* A test fixture: an engine with one call stream, and a voice server in the same process that
 * answers discovery, decrypts received packets and sends them back as another speaker's. */
#ifndef TESTS_UNIT_MEDIAD_ENGINE_STREAM_FIXTURE_H
#define TESTS_UNIT_MEDIAD_ENGINE_STREAM_FIXTURE_H

#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/tmr.h"
#include "mediad/engine/engine.h"

enum { FIXTURE_SSRC = 31, FIXTURE_OTHER = 7000, FIXTURE_RATE = 24000, FIXTURE_USER = 5 };

struct stream_fixture {
	struct env *env;
	struct engine *engine;
	struct tmr *deadline, *late, *rekey;
	struct call_stream *stream;
	struct slot *slot;
	bool replaying;

	/* settings of the test */
	enum rtpsize_mode mode;
	unsigned map_late_ms; /* 0: the speaker's SSRC is known from the start */
	bool leave_early;     /* while it speaks */
	bool leaves;	      /* CMD_STREAM_REMOVE was sent */
	bool no_server;	      /* the server does not answer */
	unsigned tone_ms;
	unsigned music_ms;    /* of 440 Hz, from a source */
	bool music_breaks;    /* the source does, in the middle */
	bool encrypted;	      /* end to end; else in the clear */
	unsigned rekey_ms;    /* interval of new epochs; 0: only one epoch */
	void (*foundh)(void); /* NULL; when discovery is done, before the key is lent */
	uint8_t key_first_byte;

	/* the server */
	int server;
	struct event *server_ev;
	struct rtpsize *theirs;
	uint16_t their_seq;
	unsigned rtp, bad, silent, before_speaking;
	bool speaking;
	unsigned plain; /* neither silence nor encrypted */
	unsigned epochs, lent;

	/* events received */
	bool timed_out, discovered, udp_failed, gone, link_gone, key_gone;
	unsigned keys_gone;
	unsigned wants, heard, ends, speaking_on, speaking_off, lane_started, lane_drained,
		lane_stopped;
	unsigned music_started, music_drained, music_stopped;
	uint64_t lane_samples, music_frames, samples, last_rtp;
	unsigned flags, out_of_order, outages, proofs;
	struct receiver_stats stats;
	unsigned music_read; /* by the audio thread: frames */
	uint32_t next_seq;
	enum media_reason end_reason;
	double tone, other; /* power at 1000 and 440 Hz */
	double k1[2], k2[2];
};

int stream_fixture_alloc(struct stream_fixture *b, struct journal *journal,
			 struct journal_reader *reader, unsigned threads);
/* Sends the commands that start the test. */
int stream_fixture_begin(struct stream_fixture *b);
void stream_fixture_free(struct stream_fixture *b);

#endif
