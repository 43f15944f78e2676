/* Passes the messages of control about one call to its commands. */
#include "mediad/call/call.h"

#include <errno.h>

#include "ipc/log.h"
#include "mediad/call/video.h"

/* Every message about a call begins with its number and generation. */
static bool is_late(const struct call *c, const struct media_msg *msg)
{
	return msg->type < MEDIA_SAY_OPEN && msg->type != MEDIA_CALL_CREDENTIALS &&
	       msg->call_set.gen < call_generation(c);
}

static int run_music_command(struct call *c, const struct media_msg *msg)
{
	switch (msg->type) {
	case MEDIA_MUSIC_PLAY:
		call_music_play(c, &msg->music_play);
		return 0;
	case MEDIA_MUSIC_NEXT:
		call_music_next(c, &msg->music_next);
		return 0;
	case MEDIA_MUSIC_SEEK:
		call_music_seek(c, &msg->music_seek);
		return 0;
	case MEDIA_MUSIC_PAUSE:
		call_music_pause(c, msg->music_pause.music, true, msg->music_pause.fade_ms);
		return 0;
	case MEDIA_MUSIC_RESUME:
		call_music_pause(c, msg->music_resume.music, false, msg->music_resume.fade_ms);
		return 0;
	case MEDIA_MUSIC_STOP:
		call_music_stop(c, msg->music_stop.music, msg->music_stop.fade_ms);
		return 0;
	case MEDIA_MUSIC_GAIN:
		call_music_gain(c, &msg->music_gain);
		call_music_duck(c, &msg->music_gain);
		return 0;
	case MEDIA_MUSIC_CLAIM:
		call_music_claim(c, msg->music_claim.music);
		return 0;
	case MEDIA_MUSIC_WATCH:
		call_music_watch(c, msg->music_watch.on);
		return 0;
	case MEDIA_VIDEO_WATCH:
	case MEDIA_VIDEO_KEY:
	case MEDIA_VIDEO_PUBLISH:
	case MEDIA_VIDEO_DATA:
	case MEDIA_VIDEO_STOP:
	case MEDIA_VIDEO_PLAY:
	case MEDIA_VIDEO_PAUSE:
	case MEDIA_VIDEO_SERVER:
		call_video_command(c, msg);
		return 0;
	default: /* the codec accepts no other message of control */
		return EPROTO;
	}
}

int call_run_command(struct call *c, const struct media_msg *msg)
{
	if (is_late(c, msg)) {
		log_info("command_late", "call=%u type=%s gen=%u", call_id(c),
			 media_type_name(msg->type), msg->call_set.gen);
		return 0;
	}
	switch (msg->type) {
	case MEDIA_CALL_SET:
		call_set(c, &msg->call_set);
		return 0;
	case MEDIA_CALL_CREDENTIALS:
		call_credentials(c, &msg->call_credentials);
		return 0;
	case MEDIA_VERIFY:
		call_verify(c, &msg->verify);
		return 0;
	case MEDIA_LISTEN:
		call_listen(c, &msg->listen);
		return 0;
	case MEDIA_UNLISTEN:
		call_unlisten(c, &msg->unlisten);
		return 0;
	case MEDIA_CONSENT:
		call_consent(c, &msg->consent);
		return 0;
	case MEDIA_SAY_OPEN:
		call_say_open(c, &msg->say_open);
		return 0;
	case MEDIA_SAY:
		call_say(c, &msg->say);
		return 0;
	case MEDIA_SAY_END:
		call_say_end(c, &msg->say_end);
		return 0;
	case MEDIA_SAY_CLAIM:
		call_say_claim(c, &msg->say_claim);
		return 0;
	case MEDIA_SAY_PAUSE:
		call_say_control(c, msg->say_pause.playback, SENDER_PAUSE, 0,
				 msg->say_pause.fade_ms);
		return 0;
	case MEDIA_SAY_RESUME:
		call_say_control(c, msg->say_resume.playback, SENDER_RESUME, 0,
				 msg->say_resume.fade_ms);
		return 0;
	case MEDIA_SAY_GAIN:
		call_say_control(c, msg->say_gain.playback, SENDER_GAIN, msg->say_gain.target,
				 msg->say_gain.fade_ms);
		return 0;
	case MEDIA_SAY_STOP:
		call_say_control(c, msg->say_stop.playback, SENDER_STOP, 0, msg->say_stop.fade_ms);
		return 0;
	default:
		return run_music_command(c, msg);
	}
}
