#include "control/golive/room.h"

#include <string.h>

#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/media/toy_mediad.h"

static struct {
	struct toy t;
	unsigned e2ee, told;
	uint64_t guild, channel;
} rig;

static unsigned policy(uint64_t guild, uint64_t channel, void *arg)
{
	(void)arg;
	rig.guild = guild;
	rig.channel = channel;
	return rig.e2ee;
}

static void tell(uint64_t guild, unsigned reason, void *arg)
{
	(void)arg;
	rig.told += guild == 100 && reason == MEDIA_REASON_NONE;
}

static const struct golive_room room = {policy, tell, NULL};

static void ignore(struct media_call *call, const struct media_msg *msg, void *arg)
{
	(void)call, (void)msg, (void)arg;
}

TEST(the_call_of_a_stream_has_the_policy_of_its_voice_channel)
{
	const struct media_want want = {.guild = 700, .channel = 700, .user = 700, .stream = true};
	struct media_want allowed;
	struct media_call *call = NULL;

	memset(&rig, 0, sizeof rig);
	CHECK(!toy_alloc(&rig.t) && !toy_listen(&rig.t) && !toy_start_control(&rig.t, 10));
	rig.e2ee = MEDIA_E2EE_ALWAYS;
	allowed = golive_room_want(&room, 100, 301, &want);
	CHECK_INT(media_call_open(&call, rig.t.media, &allowed, ignore, NULL), 0);
	CHECK_INT(media_call_want(call)->e2ee, MEDIA_E2EE_ALWAYS);
	CHECK(media_call_want(call)->stream && rig.guild == 100 && rig.channel == 301);
	/* It changes while the stream goes on. */
	rig.e2ee = MEDIA_E2EE_PREFER;
	golive_room_update(&room, call, 100, 301);
	CHECK_INT(media_call_want(call)->e2ee, MEDIA_E2EE_PREFER);
	media_call_set_server(call, 91, 90);
	rig.e2ee = MEDIA_E2EE_ALWAYS;
	golive_room_update(&room, call, 100, 301);
	CHECK_INT(media_call_want(call)->e2ee, MEDIA_E2EE_ALWAYS);
	CHECK_INT(media_call_want(call)->channel, 90);
	media_call_free(call);
	toy_free(&rig.t);
}

TEST(a_stream_in_the_clear_is_told_once)
{
	bool told = false;

	memset(&rig, 0, sizeof rig);
	golive_room_secure(&room, 100, &(struct media_call_secure){0}, &told);
	golive_room_secure(&room, 100,
			   &(struct media_call_secure){.known = true, .version = 1, .ready = true},
			   &told);
	CHECK(!told && !rig.told);
	for (unsigned i = 0; i < 2; i++)
		golive_room_secure(&room, 100,
				   &(struct media_call_secure){.known = true, .ready = true},
				   &told);
	CHECK(told && rig.told == 1);
}
