#include <string.h>

#include "control/agent/screen_looks.h"
#include "control/attachments/captions.h"
#include "control/vision/inside.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { BOB = 6 };

static struct scene s;
static char said[64];
static unsigned told;

static void take(uint32_t id, const struct screen_looked *got, void *arg)
{
	(void)id;
	(void)arg;
	told++;
	snprintf(said, sizeof said, "%d %s", got->ok, got->text);
}

static bool has_eyes(struct scene *scene)
{
	(void)scene;
	/* Nobody is there; it is not waited for. */
	return !settings_set(s.settings, "text_url", "http://127.0.0.1:1");
}

/* Stop, leaving and withdrawn consent reach the agent as the end of the share. */
TEST(a_look_ends_with_the_screen)
{
	static const uint8_t jpeg[] = {0xff, 0xd8, 0xff};
	static struct vision vision;
	const struct vision_picture picture = {.image = {"image/jpeg", {jpeg, sizeof jpeg}},
					       .user = ALICE,
					       .share = 1,
					       .number = 1};
	struct captions *captions = NULL;
	struct screen_looks *looks = NULL;

	told = 0;
	if (!scene_begin(&s, "off", has_eyes)) {
		CHECK(!"no scene");
		return;
	}
	CHECK_INT(captions_alloc(&captions), 0);
	CHECK_INT(screen_looks_alloc(&looks, s.agent,
				     &(struct agent_conf){.ws = s.fake.ctx,
							  .http = s.http,
							  .vision = &vision,
							  .viewers = {.captions = captions}}),
		  0);
	s.agent->looks = looks;
	CHECK(screen_looks_can(looks));
	CHECK_INT(screen_looks_ask(looks, 1, &picture, "which number", take, NULL), 0);
	CHECK_INT(told, 0);
	agent_screen_share(s.agent, BOB, false);
	agent_screen_share(s.agent, ALICE, true);
	CHECK_INT(told, 0);
	agent_screen_share(s.agent, ALICE, false);
	CHECK_INT(told, 1);
	CHECK_STR(said, "0 the screen is not shown any more");
	s.agent->looks = screen_looks_free(looks);
	captions_free(captions);
	scene_end(&s);
}
