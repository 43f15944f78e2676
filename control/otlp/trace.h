/* Turns as traces of OpenTelemetry's protocol (OTLP 1.x, JSON encoding), by the names of the
 * conventions for generative AI where there is one: a turn is `invoke_agent`, with speech,
 * speech_to_text, the model, execute_tool and playback as its children. A request to a provider is
 * told at its end alone, so its span has no length.
 *
 * No words, and no ids of people or servers. Ids of spans are hashes of where the turn stands, so a
 * late event finds its trace, and no randomness is drawn. Pure. */
#ifndef CONTROL_OTLP_TRACE_H
#define CONTROL_OTLP_TRACE_H

#include <stdint.h>

#include <jansson.h>

struct bus_event;

enum { OTLP_UTTERANCES = 64 };

/* When people spoke last: a turn names its utterances alone. All zero at first. */
struct otlp_speech {
	struct {
		uint64_t guild, session, utterance;
		uint64_t started_ms, ended_ms, told_ms;
	} v[OTLP_UTTERANCES];
	unsigned next;
};

/* Appends the event's spans to the list; nothing for events that are no part of a turn. */
void otlp_add_spans(json_t *list, struct otlp_speech *speech, const struct bus_event *ev);

#endif
