/* Declarations that the explorer's files share. */
#ifndef TESTS_ROOM_EXPLORE_INSIDE_H
#define TESTS_ROOM_EXPLORE_INSIDE_H

#include "control/room/inside.h"
#include "tests/room/explore.h"

enum {
	EXPLORE_USERS = 6,
	EXPLORE_AWAITED = 16,
	EXPLORE_SOUND_MS = 240,
	EXPLORE_LOUD = 6000, /* amplitudes */
	EXPLORE_MURMUR = 2400,
	EXPLORE_SOFT = 100,
};

/* What can be done. */
enum explore_kind {
	K_TIMER, /* to the deadline, and there a timer */
	K_LOUD,
	K_SOFT,
	K_OLD, /* sound that was overtaken */
	K_ON,
	K_OFF,
	K_END,
	K_PARTIAL,
	K_WORDS,     /* of an utterance that is awaited */
	K_OWN_WORDS, /* of this person's newest */
	K_NO_WORDS,
	K_AUDIO,
	K_TEXT,
	K_DONE,
	K_FAILED,
	K_VOICE, /* sound of a line that is to be spoken */
	K_WORD,	 /* of it */
	K_VOICE_DONE,
	K_VOICE_FAILED,
	K_SOUNDED,
	K_INSTRUCTED,
	K_TOOL,
	K_CHOICE,
	K_MUSIC,
	K_SOUNDBOARD_PLAYED,
	K_CLASSIFIED,
	K_EOT, /* somebody has likely finished */
	K_POWER,
	K_SETTINGS,
	K_OVER, /* somebody wants the session to end */
	K_STARTED,
	K_DRAINED,
	K_STOPPED,
	K_JOIN,
	K_LEAVE,
	K_CALL,
	K_MUTE,
	K_SHUTDOWN,
	K_OTHER, /* any event of the table, with anything in it */
	KINDS
};

/* Numbers of texts that people say (explore_op.c): those with the bot's name first, then any, for
 * music, of a choice, and as many as an utterance may have. */
enum {
	SAID_NAMED = 0,
	SAID_ANY = 3,
	SAID_MUSIC = 20,
	SAID_CHOICE = 25,
	SAID_LONG = 29,
	SAID_ECHO = 30,
	SAID_ECHO_SHORT = 31,
	SAID = 32
};

struct explore {
	struct watch *watch;
	struct room *room;
	struct room_effects fx;
	struct settings *settings;
	uint64_t now, random;
	uint32_t utterance[EXPLORE_USERS + 1]; /* the newest */
	struct {
		uint64_t user;
		uint32_t utterance;
	} awaited[EXPLORE_AWAITED];
	unsigned n_awaited;
	bool recording; /* one was told in this step */
	uint32_t asked, playing;
	struct {
		uint32_t turn, chunk;
	} line, beat; /* that is to be spoken, a sound that plays */
	bool instructed;
	uint32_t instructions; /* number of the newest */
	struct {
		uint32_t turn, question;
	} judging;	   /* what a classifier was asked last */
	uint32_t retrieve; /* number of the newest search of the memory */
	uint64_t written, started_at, packet_at;
	bool started, ended, over; /* of the playback */
	uint8_t loud[EXPLORE_SOUND_MS * ROOM_RATE / 1000 * 2],
		murmur[EXPLORE_SOUND_MS * ROOM_RATE / 1000 * 2],
		soft[EXPLORE_SOUND_MS * ROOM_RATE / 1000 * 2];
	FILE *scenario;
	const char *broken;
};

/* explore.c: a run */
void explore_begin(struct explore *x, const struct explore_policy *p);
void explore_do(struct explore *x, const struct explore_op *op);
/* Nothing comes any more but time, and what was asked of the world is answered by nobody. */
void explore_rest(struct explore *x);
void explore_end(struct explore *x);

/* explore_op.c: the event of an op, as the room stands; and as a line of a scenario */
void explore_event(struct explore *x, const struct explore_op *op, struct room_event *ev);
void explore_write(struct explore *x, const struct room_event *ev);

#endif
