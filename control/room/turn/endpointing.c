#include "control/room/turn/endpointing.h"

#include <stdio.h>

#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"

/* The least audio of a chunk: providers refuse less. */
enum { LEAST_MS = 120 };

/* Whether there is an interim transcript of the audio that is being streamed. */
static bool has_interim(const struct room_speaker *sp)
{
	return !sp->capture.restart && sp->endpointing.utterance == sp->capture.utterance &&
	       *sp->endpointing.text;
}

void room_endpointing_set_interim(struct room_speaker *sp, uint32_t utterance, const char *text)
{
	sp->endpointing.utterance = utterance;
	snprintf(sp->endpointing.text, sizeof sp->endpointing.text, "%s", text);
}

void room_endpointing_text(const struct room_speaker *sp, char *buf, size_t size)
{
	const struct room_turn *t = sp->turn;

	buf[0] = '\0';
	if (!t)
		return;
	room_append(buf, size, t->transcript, strlen(t->transcript));
	for (unsigned i = 0; i < t->chunks; i++)
		room_append(buf, size, t->chunk[i].text, strlen(t->chunk[i].text));
	if (has_interim(sp))
		room_append(buf, size, sp->endpointing.text, strlen(sp->endpointing.text));
}

void room_endpointing_copy(const struct room_speaker *sp, struct room_turn *to)
{
	const struct room_turn *t = sp->turn;

	for (unsigned i = 0; i < t->chunks; i++)
		room_segment_add(to, t->user, t->name, t->chunk[i].utterance, t->chunk[i].text);
	if (has_interim(sp))
		room_segment_add(to, t->user, t->name, sp->endpointing.utterance,
				 sp->endpointing.text);
}

void room_endpointing_update(struct room *room, struct room_speaker *sp)
{
	char all[ROOM_TEXT_MAX];

	sp->endpointing.examined_at = 0;
	if (!sp->turn)
		return;
	room_endpointing_text(sp, all, sizeof all);
	sp->endpointing.words = room_eot_words(all, &room->names);
}

/* ---- what a pause brings ---- */

static bool has_all_transcripts(const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (!t->chunk[i].done)
			return false;
	return true;
}

/* Whether an early chunk is needed and there is a place for it. */
static bool wants_chunk(const struct room *room, const struct room_speaker *sp)
{
	const struct room_turn *t = sp->turn;

	return !room->shared && !sp->capture.restart && !has_interim(sp) &&
	       !room_capture_lacks_voice(&sp->capture, room->context.settings) &&
	       room_signal_ms(&sp->capture.signal) >= LEAST_MS &&
	       (t->chunks < ROOM_CAPTURE_CHUNKS || t->chunk[0].done);
}

static bool has_known_words(const struct room *room, const struct room_speaker *sp)
{
	bool silent = sp->capture.restart ||
		      room_capture_lacks_voice(&sp->capture, room->context.settings);

	return (has_interim(sp) || (silent && sp->turn->chunks)) && has_all_transcripts(sp->turn);
}

static int loudness_shift(const struct room_capture *c)
{
	return room_eot_loudness_shift(c->tail_rms, room_signal_rms(&c->voiced));
}

/* When the next action is due, and which: *chunk = an early chunk, else a speculative answer.
 * */
static uint64_t compute_due(const struct room *room, const struct room_speaker *sp, bool *chunk)
{
	const struct settings *s = room->context.settings;
	const struct room_capture *c = &sp->capture;
	uint64_t pause = s->eot_pause_ms, likely;

	*chunk = false;
	if (c->phase != ROOM_CAPTURE_PROMOTED || room->files ||
	    sp->endpointing.examined_at == c->voice_at || !room_speculative_possible(room))
		return UINT64_MAX;
	*chunk = wants_chunk(room, sp);
	if (*chunk)
		return c->voice_at + pause * NS_PER_MS;
	if (!has_known_words(room, sp))
		return UINT64_MAX;
	likely = room_eot_delay(sp->endpointing.words, loudness_shift(c), s->eot_share);
	return c->voice_at + (likely > pause ? likely : pause) * NS_PER_MS;
}

static void tick_speaker(struct room *room, struct room_speaker *sp)
{
	struct room_capture *c = &sp->capture;
	uint64_t pause;
	bool chunk;

	/* The common case first: the speaker is not silent long enough. */
	if (room->context.now < c->voice_at + room->context.settings->eot_pause_ms * NS_PER_MS ||
	    room->context.now < compute_due(room, sp, &chunk))
		return;
	if (chunk) {
		room_capture_split(c);
		sp->turn->end_of_speech_at = c->voice_at;
		room_asr_commit(room, sp);
		return;
	}
	pause = (room->context.now - c->voice_at) / NS_PER_MS;
	sp->endpointing.examined_at = c->voice_at;
	room_speculative_begin(
		room, sp, room_eot_probability(sp->endpointing.words, loudness_shift(c), pause));
}

void room_endpointing_tick(struct room *room)
{
	for (unsigned i = 0; i < room->places; i++)
		if (room->speaker[i].turn)
			tick_speaker(room, &room->speaker[i]);
}

uint64_t room_endpointing_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX, at;
	bool chunk;

	for (unsigned i = 0; i < room->places; i++) {
		if (!room->speaker[i].turn)
			continue;
		at = compute_due(room, &room->speaker[i], &chunk);
		if (at < first)
			first = at;
	}
	return first;
}
