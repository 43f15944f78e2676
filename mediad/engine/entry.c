#include "mediad/engine/entry.h"

#include <unistd.h>

#include "mediad/engine/call_stream.h"

void cmd_dispose(struct cmd *c)
{
	switch (c->type) {
	case CMD_STREAM_ADD:
		call_stream_free(c->stream);
		break;
	case CMD_LINK:
		if (c->link.fd >= 0)
			close(c->link.fd);
		break;
	case CMD_KEY:
		rtpsize_free(c->key);
		break;
	case CMD_SLOT_ADD:
		slot_free(c->slot.slot);
		break;
	case CMD_LISTEN:
		audio_decoder_free(c->slot.decoder);
		break;
	case CMD_DAVE_SEND:
	case CMD_DAVE_OPEN:
		dave_key_free(c->dave.key);
		break;
	case CMD_LANE_ADD:
		lane_free(c->lane.lane);
		break;
	case CMD_MUSIC_LEND:
		music_mixer_free(c->music.mixer);
		break;
	case CMD_MUSIC_ADD:
		music_lane_free(c->music.lane);
		break;
	default:
		break;
	}
}

void ev_dispose(struct ev *e)
{
	switch (e->type) {
	case EV_STREAM_GONE:
		call_stream_free(e->stream);
		break;
	case EV_LINK_GONE:
		if (e->fd >= 0)
			close(e->fd);
		break;
	case EV_KEY_GONE:
		rtpsize_free(e->key);
		break;
	case EV_SLOT_GONE:
		slot_free(e->slot);
		break;
	case EV_DECODER_GONE:
		audio_decoder_free(e->decoder);
		break;
	case EV_DAVE_KEY_GONE:
		dave_key_free(e->dave_key);
		break;
	case EV_LANE:
		if (e->lane.what == SENDER_DRAINED || e->lane.what == SENDER_STOPPED)
			lane_free(e->lane.lane);
		break;
	case EV_MUSIC:
		if (e->lane.what == SENDER_DRAINED || e->lane.what == SENDER_STOPPED)
			music_lane_free(e->lane.music);
		break;
	default:
		break;
	}
}
