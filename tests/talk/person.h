/* One tab as a member of guildd's voice channel: it has a mediad of its own, driven by control's
 * media link, so that the other members get Opus, RTP and DAVE as from any client.
 *
 * Joining is a chain: guildd makes the user, makes it a member of the server, and lets it into the
 * channel when mediad asks for credentials. Freeing leaves and ends the mediad. Everything runs on
 * env's loop; handlers are called from steps and must not free the person. */
#ifndef TESTS_TALK_PERSON_H
#define TESTS_TALK_PERSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct http;
struct person;

enum { PERSON_RATE = 48000, PERSON_OTHERS = 24 };

enum person_phase { PERSON_JOINING, PERSON_UP, PERSON_FAILED };

/* A value of the functions below has changed. */
typedef void(person_changed_h)(void *arg);
/* Sound of another member: s16le mono at PERSON_RATE. Borrowed until return. */
typedef void(person_heard_h)(uint64_t user, const uint8_t *pcm, size_t n, void *arg);

struct person_conf {
	struct env *env;
	struct http *http;   /* for requests to guildd; outlives the person, whose last requests it
				completes */
	const char *api;     /* guildd's control API */
	const char *ca_file; /* guildd's */
	const char *mediad;  /* the program */
	const char *run_dir; /* for its socket */
	uint64_t guild, channel;
	const char *name; /* copied */
	uint32_t rate;	  /* samples a second of person_speak */
	person_changed_h *changedh;
	person_heard_h *heardh;
	void *arg;
};

/* EINVAL for a rate that no microphone has, ENOENT without mediad, ENOMEM. Texts are borrowed but
 * for the name. Caller owns *out. */
int person_alloc(struct person **out, const struct person_conf *conf);
struct person *person_free(struct person *p);

/* Takes microphone samples: s16le mono, any number. Sends them only while the squelch is open. */
void person_speak(struct person *p, const uint8_t *pcm, size_t n);
/* Mutes: fades out the current audio and drops new samples; the other members see the mute. */
void person_mute(struct person *p, bool on);

enum person_phase person_phase(const struct person *p);
/* A sentence while FAILED, else "". */
const char *person_trouble(const struct person *p);
/* 0 until guildd has made it. */
uint64_t person_user(const struct person *p);
const char *person_name(const struct person *p);
bool person_muted(const struct person *p);
/* True if the squelch is open, so that the audio is sent. */
bool person_speaking(const struct person *p);
/* The privacy code in groups of five, "" without encryption. */
const char *person_code(const struct person *p);
/* The i-th other member; false past the last. */
bool person_other(const struct person *p, unsigned i, uint64_t *user, bool *speaking);

#endif
