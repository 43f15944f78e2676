#include "control/media/music.h"

#include <errno.h>
#include <string.h>

#include "control/media/call.h"
#include "control/music/volume.h"
#include "ipc/http_guard.h"

bool media_music_opens(const struct track *t)
{
	return t->source == TRACK_URL || t->source == TRACK_RADIO ||
	       (t->source == TRACK_LOCAL && t->root <= UINT8_MAX);
}

bool media_music_reads(const struct media_music_means *d, const char *url)
{
	char why[128];

	return !d->guard || http_guard_url(d->guard, url, why, sizeof why);
}

enum media_music_lack media_music_find_lack(const struct media_call *call, const struct track *t,
					    const struct media_folder *folder)
{
	const struct media_music_means *d = media_call_music_means(call);

	if (!d)
		return MEDIA_MUSIC_LACKS_NOTHING;
	if (!d->running)
		return MEDIA_MUSIC_LACKS_DECODERS;
	if (t->source != TRACK_LOCAL)
		return !media_music_opens(t) || media_music_reads(d, t->reference)
			       ? MEDIA_MUSIC_LACKS_NOTHING
			       : MEDIA_MUSIC_LACKS_ADDRESS;
	if (t->root >= d->n || !d->folder[t->root].number)
		return MEDIA_MUSIC_LACKS_FOLDER;
	return folder && folder->number && !media_folder_is_same(folder, &d->folder[t->root])
		       ? MEDIA_MUSIC_LACKS_FOLDER
		       : MEDIA_MUSIC_LACKS_NOTHING;
}

const char *media_music_lack_name(enum media_music_lack lack)
{
	static const char *const names[] = {"nothing", "decoders", "folder", "address"};

	return names[lack];
}

const char *media_find_hint(const struct media *m, const struct media_link *l,
			    enum media_music_lack lack)
{
	bool ours = media_is_spawned(m, l);

	switch (lack) {
	case MEDIA_MUSIC_LACKS_FOLDER:
		return ours ? "control gave mediad the folders of music_folders at the start: "
			      "make them readable and restart control"
			    : "start mediad with --music-root DIR for each folder of "
			      "music_folders, in the same order";
	case MEDIA_MUSIC_LACKS_ADDRESS:
		return ours ? "restart control, which gives mediad the list of web_read_allowed at "
			      "the start"
			    : "start mediad with --music-address LIST, the list of "
			      "web_read_allowed";
	case MEDIA_MUSIC_LACKS_DECODERS:
	case MEDIA_MUSIC_LACKS_NOTHING:
		break;
	}
	return ours	      ? "the log of mediad says why decoderd does not run"
	       : m->n_folders ? "start mediad with --music-root DIR for each folder of "
				"music_folders, in the same order; its log says whether decoderd "
				"runs"
			      : "start mediad with --decoderd PROGRAM; its log says whether "
				"decoderd runs";
}

const char *media_music_hint(const struct media_call *call, enum media_music_lack lack)
{
	return media_find_hint(call->media, call->link, lack);
}

static uint8_t kind_of(const struct track *t)
{
	if (!t)
		return MEDIA_MUSIC_NONE;
	return t->source == TRACK_LOCAL ? MEDIA_MUSIC_FILE : MEDIA_MUSIC_HTTP;
}

static uint8_t root_of(const struct track *t)
{
	return t && t->source == TRACK_LOCAL ? (uint8_t)t->root : 0;
}

static struct slice path_of(const struct track *t, const struct media_music_style *style)
{
	return slice_str(!t ? "" : style->stream ? style->stream : t->reference);
}

static struct slice headers_of(const struct media_music_style *style)
{
	return slice_str(style->stream && style->headers ? style->headers : "");
}

/* A station is heard where it is: nobody can open it at another place. */
static uint64_t start_of(const struct music_order *o)
{
	return o->track && o->track->source == TRACK_RADIO ? 0 : o->position;
}

static void set_play(struct media_msg *msg, const struct music_order *o,
		     const struct media_music_style *style)
{
	msg->type = MEDIA_MUSIC_PLAY;
	msg->music_play = (struct media_music_play){.kind = kind_of(o->track),
						    .root = root_of(o->track),
						    .path = path_of(o->track, style),
						    .start = start_of(o),
						    .gain = music_volume_gain(o->volume),
						    .fine_gain = music_volume_fine_gain(o->volume),
						    .loudness = style->loudness,
						    .paused = o->paused,
						    .fade_ms = style->fade_ms,
						    .duck = style->duck,
						    .duck_attack_ms = style->duck_attack_ms,
						    .duck_hold_ms = style->duck_hold_ms,
						    .duck_release_ms = style->duck_release_ms,
						    .bitrate = style->bitrate,
						    .headers = headers_of(style)};
}

static void set_next(struct media_msg *msg, const struct music_order *o,
		     const struct media_music_style *style)
{
	msg->type = MEDIA_MUSIC_NEXT;
	msg->music_next = (struct media_music_next){.kind = kind_of(o->track),
						    .root = root_of(o->track),
						    .path = path_of(o->track, style),
						    .gain = music_volume_gain(o->volume),
						    .fine_gain = music_volume_fine_gain(o->volume),
						    .loudness = style->loudness,
						    .crossfade_ms = style->crossfade_ms,
						    .after = o->after,
						    .headers = headers_of(style)};
}

int media_music_order(struct media_call *call, const struct music_order *o,
		      const struct media_music_style *style)
{
	uint16_t fade_ms = style->fade_ms;
	struct media_msg msg = {0};

	if (o->track && !style->stream && !media_music_opens(o->track))
		return ENOTSUP;
	switch (o->kind) {
	case MUSIC_ORDER_PLAY:
		set_play(&msg, o, style);
		break;
	case MUSIC_ORDER_NEXT:
		set_next(&msg, o, style);
		break;
	case MUSIC_ORDER_PAUSE:
		msg.type = MEDIA_MUSIC_PAUSE;
		msg.music_pause.fade_ms = fade_ms;
		break;
	case MUSIC_ORDER_RESUME:
		msg.type = MEDIA_MUSIC_RESUME;
		msg.music_resume.fade_ms = fade_ms;
		break;
	case MUSIC_ORDER_SEEK:
		msg.type = MEDIA_MUSIC_SEEK;
		msg.music_seek.position = o->position;
		break;
	case MUSIC_ORDER_GAIN:
		msg.type = MEDIA_MUSIC_GAIN;
		msg.music_gain.target = music_volume_gain(o->volume);
		msg.music_gain.fine_target = music_volume_fine_gain(o->volume);
		msg.music_gain.fade_ms = fade_ms;
		msg.music_gain.duck = style->duck;
		msg.music_gain.duck_attack_ms = style->duck_attack_ms;
		msg.music_gain.duck_hold_ms = style->duck_hold_ms;
		msg.music_gain.duck_release_ms = style->duck_release_ms;
		break;
	case MUSIC_ORDER_STOP:
		msg.type = MEDIA_MUSIC_STOP;
		msg.music_stop.fade_ms = fade_ms;
		break;
	case MUSIC_ORDER_CLAIM:
		msg.type = MEDIA_MUSIC_CLAIM;
		break;
	}
	msg.music_claim.music = o->music; /* each of them begins with the same head */
	return media_call_send(call, &msg);
}

/* By its name in decoder_wire.h of mediad. A name that is not known is the track's. */
static enum music_fault fault_of(struct slice failure)
{
	static const struct {
		const char *name;
		enum music_fault fault;
	} faults[] = {
		{"no_jail", MUSIC_FAULT_MACHINE},    {"no_decoder", MUSIC_FAULT_MACHINE},
		{"no_process", MUSIC_FAULT_MACHINE}, {"lost", MUSIC_FAULT_MACHINE},
		{"not_seekable", MUSIC_FAULT_START}, {"unreachable", MUSIC_FAULT_NETWORK},
		{"overloaded", MUSIC_FAULT_NETWORK}, {"stalled", MUSIC_FAULT_NETWORK},
	};

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		if (failure.n == strlen(faults[i].name) &&
		    memcmp(failure.p, faults[i].name, failure.n) == 0)
			return faults[i].fault;
	return MUSIC_FAULT_TRACK;
}

bool media_music_report(struct music_report *r, const struct media_music_state *s)
{
	static const struct {
		bool known;
		enum music_phase phase;
	} phases[] = {
		[MEDIA_MUSIC_PHASE_OPENING] = {true, MUSIC_PHASE_OPENING},
		[MEDIA_MUSIC_PHASE_READY] = {true, MUSIC_PHASE_READY},
		[MEDIA_MUSIC_PHASE_PLAYING] = {true, MUSIC_PHASE_PLAYING},
		[MEDIA_MUSIC_PHASE_PAUSED] = {true, MUSIC_PHASE_PAUSED},
		[MEDIA_MUSIC_PHASE_ENDED] = {true, MUSIC_PHASE_ENDED},
		[MEDIA_MUSIC_PHASE_FAILED] = {true, MUSIC_PHASE_FAILED},
		[MEDIA_MUSIC_PHASE_WAITING] = {true, MUSIC_PHASE_PLAYING},
	};

	if (s->phase >= sizeof phases / sizeof phases[0] || !phases[s->phase].known ||
	    (s->phase == MEDIA_MUSIC_PHASE_ENDED && s->reason == MEDIA_REASON_CALL_ENDED))
		return false;
	*r = (struct music_report){
		.music = s->music,
		.phase = phases[s->phase].phase,
		.position = s->position,
		.stopped = s->phase == MEDIA_MUSIC_PHASE_ENDED && s->reason == MEDIA_REASON_STOPPED,
		.waits = s->phase == MEDIA_MUSIC_PHASE_WAITING,
		.fault = s->phase == MEDIA_MUSIC_PHASE_FAILED ? fault_of(s->failure)
							      : MUSIC_FAULT_TRACK};
	return true;
}
