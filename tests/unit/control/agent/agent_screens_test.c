#include <string.h>

#include "control/agent/agent_screens.h"
#include "control/agent/screen_looks.h"
#include "control/attachments/captions.h"
#include "control/prompts/prompts.def"
#include "control/tools/builtin/host.h"
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

/* ---- two screens, of Alice and Bob ---- */

static struct vision vision;
static uint8_t jpeg[] = {0xff, 0xd8, 0xff};
static uint64_t forgotten; /* whom the bot may not remember */
static char output[600];

static const char *name_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild;
	(void)arg;
	return user == ALICE ? "alice" : "bob";
}

static bool remembers(uint64_t user, void *arg)
{
	(void)arg;
	return user != forgotten;
}

static uint64_t nowhere(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return 0;
}

static uint64_t elsewhere; /* this person is */

static uint64_t in_the_channel(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)arg;
	return user == elsewhere ? 0 : media_call_want(s.call)->channel;
}

static void show_screen(unsigned i, uint64_t user)
{
	const struct media_want *where = media_call_want(s.call);

	vision.shares.v[i] = (struct share){.id = i + 1,
					    .watched = true,
					    .state = SHARE_SHOWING,
					    .owner = {.guild = where->guild,
						      .channel = where->channel,
						      .requester = user,
						      .target = user}};
	vision.views[i] = (struct view){.vision = &vision,
					.share = i + 1,
					.number = 1,
					.confirmed = env_now(s.fake.env),
					.newest = {.p = jpeg, .n = 0, .at = env_now(s.fake.env)}};
}

static bool begin_screens(void)
{
	forgotten = elsewhere = 0;
	if (!scene_begin(&s, "off", has_eyes))
		return false;
	vision = (struct vision){.conf = {.env = s.fake.env,
					  .settings = s.settings,
					  .world = {in_the_channel, nowhere, NULL},
					  .nameh = name_of}};
	s.agent->vision = &vision;
	s.agent->remembersh = remembers;
	show_screen(0, ALICE);
	show_screen(1, BOB);
	return true;
}

static void end_screens(void)
{
	/* The pictures are this test's. */
	memset(&vision, 0, sizeof vision);
	s.agent->vision = NULL;
	scene_end(&s);
}

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)id;
	(void)ok;
	(void)arg;
	snprintf(output, sizeof output, "%.*s", (int)text.n, (const char *)text.p);
}

static bool all_of_them; /* for the next call */

static void call_tool(enum tool_screen_op op, uint64_t user, uint32_t turn, const char *target)
{
	*output = '\0';
	CHECK_INT(agent_screens_ask(s.agent, 1,
				    &(struct tool_screen){.op = op,
							  .all = all_of_them,
							  .user = user,
							  .turn = turn,
							  .target = target,
							  .question = ""},
				    take_output, NULL),
		  0);
}

static bool may_keep(uint32_t turn)
{
	return turns_may_keep(s.agent->turns, &(struct room_turn){.id = turn, .user = ALICE});
}

/* A model that is shown no picture gets the screens in words. */
TEST(an_answer_about_a_screen_in_words_is_kept_as_its_owner_agrees)
{
	static struct agent_shown shown;
	struct engine_message m;
	bool fresh, news;

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	forgotten = BOB;
	CHECK(!settings_set(s.settings, "screen_mode", "tool"));
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news));
	CHECK_INT(m.n_images, 0);
	CHECK(may_keep(3));
	agent_screens_note(s.agent, 3);
	CHECK(!may_keep(3));
	call_tool(TOOL_SCREEN_SEE, ALICE, 4, "alice");
	CHECK(!may_keep(4));
	call_tool(TOOL_SCREEN_LIST, ALICE, 5, "");
	CHECK(!may_keep(5));
	/* His is the only one that is not kept. */
	turns_renewed(s.agent->turns);
	vision.shares.v[1].id = 0;
	agent_screens_note(s.agent, 6);
	CHECK(may_keep(6));
	end_screens();
}

TEST(a_session_is_told_when_words_about_a_picture_change)
{
	static struct agent_shown shown;
	struct engine_message m;
	bool fresh, news;

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && fresh && news);
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && !news);
	vision.shares.v[0].state = SHARE_PAUSED;
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && news);
	notes_changed(&vision.views[0].notes, 100, 1, env_now(s.fake.env));
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && news);
	CHECK(notes_tell(&vision.views[0].notes, 1, "a letter"));
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && news);
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && !news);
	end_screens();
}

static bool comes_with(const struct agent_shown *shown, uint64_t user)
{
	return shown->pictures[0].user == user || shown->pictures[1].user == user;
}

/* Two come with a question: the speaker's, and one that stays the same from question to question.
 */
TEST(of_three_screens_the_speakers_comes_with_the_question)
{
	static struct agent_shown shown;
	struct engine_message m;
	bool fresh, news;

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	show_screen(2, BOB + 1);
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && fresh && news);
	CHECK_INT(shown.pictures[0].user, ALICE);
	CHECK_INT(shown.pictures[1].user, BOB + 1);
	CHECK(strstr(shown.text, "Also shown, but not with this question") != NULL);
	/* Another page was heard last. */
	vision.views[2].confirmed -= NS_PER_S;
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && !fresh && !news);
	CHECK(comes_with(&shown, ALICE) && comes_with(&shown, BOB + 1));
	/* A dead page is not fresh any more. */
	vision.views[2].confirmed -= 60 * NS_PER_S;
	CHECK(agent_screens_message(s.agent, ALICE, &shown, &m, &fresh, &news) && fresh);
	CHECK(comes_with(&shown, ALICE) && comes_with(&shown, BOB));
	end_screens();
}

/* It is not shown with the question; the tool finds it, and it comes with the next. */
TEST(the_screen_of_a_third_person_is_found)
{
	static struct agent_shown shown;
	struct engine_message m;
	bool fresh, news;

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	show_screen(2, BOB + 1);
	CHECK(agent_screens_message(s.agent, BOB, &shown, &m, &fresh, &news));
	CHECK(!comes_with(&shown, ALICE));
	call_tool(TOOL_SCREEN_SEE, BOB, 4, "alice");
	CHECK(*output && !strstr(output, PROMPT_SCREEN_NOT_SEEN));
	CHECK(!strstr(output, PROMPT_SCREEN_SEEN) && !strstr(output, PROMPT_SCREEN_NOT_THEIRS));
	CHECK(agent_screens_message(s.agent, BOB, &shown, &m, &fresh, &news) && fresh);
	CHECK(comes_with(&shown, ALICE) && comes_with(&shown, BOB));
	call_tool(TOOL_SCREEN_SEE, BOB, 4, "nobody");
	CHECK(strstr(output, PROMPT_SCREEN_NOT_THEIRS) != NULL);
	end_screens();
}

TEST(without_a_picture_nobody_is_told_that_the_bot_sees)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "");
	CHECK(strstr(output, "\"sees\":true") != NULL);
	vision.views[0].newest.p = NULL;
	vision.shares.v[0].state = SHARE_OPENED;
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "");
	CHECK(strstr(output, PROMPT_SCREEN_NO_PICTURE) != NULL);
	vision.shares.v[0].state = SHARE_PAUSED;
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "");
	CHECK(strstr(output, PROMPT_SCREEN_IS_PAUSED) != NULL);
	call_tool(TOOL_SCREEN_SEE, ALICE, 3, "alice");
	CHECK(strstr(output, "\"not_seen_because\":\"alice has paused the screen") != NULL);
	/* No button of hers brings one while she is elsewhere. */
	elsewhere = ALICE;
	call_tool(TOOL_SCREEN_WATCH, BOB, 3, "alice");
	CHECK(strstr(output, "\"because\":\"alice is not in the voice channel") != NULL);
	call_tool(TOOL_SCREEN_SEE, BOB, 3, "alice");
	CHECK(strstr(output, "\"not_seen_because\":\"alice is not in the voice channel") != NULL);
	elsewhere = 0;
	/* A link that nobody has opened is no screen, and nobody learns whose it is. */
	vision.shares.v[0].state = SHARE_OFFERED;
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "");
	CHECK(strstr(output, PROMPT_SCREEN_NEEDS_SHARE) != NULL);
	call_tool(TOOL_SCREEN_LIST, BOB, 3, "");
	CHECK(!strstr(output, "alice") && strstr(output, "bob"));
	end_screens();
}

/* The reason is not that of somebody else. */
TEST(who_shows_no_screen_now_is_asked_about_by_name)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	call_tool(TOOL_SCREEN_SEE, BOB, 3, "carol");
	CHECK(strstr(output, "\"not_seen_because\":\"Nobody of that name") != NULL);
	vision_note_end(&vision, &vision.shares.v[0], "left", NULL);
	vision.shares.v[0].id = 0;
	call_tool(TOOL_SCREEN_SEE, BOB, 3, "Alice");
	CHECK(strstr(output, "\"not_seen_because\":\"The screen of alice is gone") != NULL);
	/* Who is in the room and has shown none. */
	vision_forget_ended(&vision, 0, ALICE);
	CHECK_INT(room_user_of(s.agent->room, "Alice"), ALICE);
	call_tool(TOOL_SCREEN_SEE, BOB, 3, "Alice");
	CHECK(strstr(output, "\"not_seen_because\":\"alice shows no screen") != NULL);
	end_screens();
}

static bool are_watched(bool alice, bool bob)
{
	return vision.shares.v[0].watched == alice && vision.shares.v[1].watched == bob;
}

TEST(stop_looking_is_about_the_screen_of_the_asker)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	vision.views[0].vision = vision.views[1].vision = NULL;
	call_tool(TOOL_SCREEN_UNWATCH, ALICE, 3, "");
	CHECK(are_watched(false, true));
	/* Who shows none means those of others. */
	call_tool(TOOL_SCREEN_UNWATCH, BOB + 1, 3, "");
	CHECK(are_watched(false, false));
	vision.shares.v[0].watched = vision.shares.v[1].watched = true;
	all_of_them = true;
	call_tool(TOOL_SCREEN_UNWATCH, ALICE, 3, "");
	all_of_them = false;
	CHECK(are_watched(false, false));
	end_screens();
}

/* ---- a stream that cannot be watched ---- */

static char written[200];

static void take_written(const struct words *words, void *arg)
{
	(void)arg;
	snprintf(written, sizeof written, "%.199s", words->text);
}

static void stream_of_bob(uint64_t guild, uint64_t channel, vision_streamer_h *h, void *h_arg,
			  void *arg)
{
	(void)guild, (void)channel, (void)arg;
	h(BOB, h_arg);
}

static const char *watch_nothing(uint64_t guild, uint64_t channel, uint64_t user, void *arg)
{
	(void)guild, (void)channel, (void)user, (void)arg;
	return "the account is busy";
}

TEST(who_streams_is_told_why_it_is_not_watched)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	vision.shares.v[1].id = 0;
	vision.streams = (struct vision_streams){.eachh = stream_of_bob, .watchh = watch_nothing};
	call_tool(TOOL_SCREEN_WATCH, BOB, 3, "");
	CHECK(strstr(output, "\"because\":\"the account is busy\"") != NULL);
	s.agent->tellh = take_written;
	agent_screen_unseen(s.agent, BOB, "Discord did not answer", false);
	CHECK(strncmp(written, "I cannot see the stream of", 26) == 0);
	/* The room has read why: no second message. */
	*written = '\0';
	agent_screen_unseen(s.agent, BOB, "the stream would not be encrypted", true);
	CHECK_STR(written, "");
	end_screens();
}

TEST(nobody_else_has_a_screen_watched)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "bob");
	CHECK(strstr(output, "\"watching\":true") != NULL); /* it is already */
	vision.shares.v[1].watched = false;
	call_tool(TOOL_SCREEN_WATCH, ALICE, 3, "bob");
	CHECK(strstr(output, PROMPT_SCREEN_NEEDS_OWNER) != NULL);
	CHECK(!vision.shares.v[1].watched);
	call_tool(TOOL_SCREEN_WATCH, BOB, 3, "");
	CHECK(strstr(output, "\"watching\":true") != NULL);
	CHECK(vision.shares.v[1].watched);
	/* Of two of the same name the speaker is meant. */
	vision.shares.v[0].watched = false;
	vision.shares.v[1].watched = false;
	vision.shares.v[2] = vision.shares.v[1];
	vision.shares.v[2].id = 3;
	vision.shares.v[2].owner.target = BOB + 1;
	call_tool(TOOL_SCREEN_WATCH, BOB + 1, 3, "Bob");
	CHECK(!vision.shares.v[1].watched && vision.shares.v[2].watched);
	end_screens();
}

/* A session forgets nothing that it was shown, so another one begins. */
TEST(the_end_of_a_screen_renews_the_session_that_was_shown_it)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	s.agent->memory_told = strdup("a slice");
	agent_screen_share(s.agent, BOB, false);
	CHECK(s.agent->memory_told != NULL); /* it was shown none */
	agent_screens_note(s.agent, 3);
	agent_screen_share(s.agent, BOB, true);
	CHECK(s.agent->memory_told != NULL);
	agent_screen_share(s.agent, BOB, false);
	CHECK(s.agent->memory_told == NULL);
	CHECK(!s.agent->screen_held);
	/* "Stop looking" is such an end. */
	agent_screens_note(s.agent, 4);
	vision.views[0].vision = vision.views[1].vision = NULL;
	call_tool(TOOL_SCREEN_UNWATCH, ALICE, 4, "alice");
	CHECK(strstr(output, "\"stopped\":1") != NULL);
	CHECK(!s.agent->screen_held);
	end_screens();
}

/* ---- a video of ours ---- */

static unsigned shows;
static bool has_asker;

static const char *show_video(const struct vision_film *film, vision_film_h *h, void *h_arg,
			      void *arg)
{
	(void)film;
	(void)h;
	(void)h_arg;
	(void)arg;
	has_asker = true;
	shows++;
	return NULL;
}

static bool end_video(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	shows--;
	return true;
}

static void forget_asker(const void *h_arg, void *arg)
{
	(void)h_arg;
	(void)arg;
	has_asker = false;
}

/* Otherwise the account goes live after "no, stop", or after the model was told that it took too
 * long. */
TEST(a_video_that_was_called_off_is_not_shown)
{
	const struct tool_screen what = {
		.op = TOOL_SCREEN_SHOW, .user = ALICE, .url = "file:a.mp4"};

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	vision.streams = (struct vision_streams){
		.showh = show_video, .endh = end_video, .forgeth = forget_asker};
	CHECK_INT(agent_screens_ask(s.agent, 7, &what, take_output, NULL), 0);
	CHECK(shows == 1 && has_asker);
	agent_screens_cancel(s.agent, 6); /* another call */
	CHECK(shows == 1 && has_asker);
	agent_screens_cancel(s.agent, 7);
	CHECK(!shows && !has_asker);
	/* It is over: a second word ends nothing of anybody. */
	shows = 1;
	agent_screens_cancel(s.agent, 7);
	CHECK_INT(shows, 1);
	end_screens();
}

static unsigned messages;

static void count_written(const struct words *words, void *arg)
{
	messages++;
	take_written(words, arg);
}

/* Its begin and an end that was asked for are answers of tools. */
TEST(the_room_is_told_once_how_a_video_of_ours_ended)
{
	static const struct {
		enum vision_show_over over;
		const char *words;
	} ends[] = {
		{VISION_SHOW_BEGUN, ""},
		{VISION_SHOW_ASKED, ""},
		{VISION_SHOW_TOLD, ""},
		{VISION_SHOW_LOST, "ended from outside"},
		{VISION_SHOW_FAILED, "ended early"},
		{VISION_SHOW_UNWATCHED, "nobody watched it"},
	};

	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	s.agent->tellh = count_written;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		messages = 0;
		*written = '\0';
		agent_show(s.agent, &(struct vision_show){.user = ALICE}, ends[i].over);
		CHECK_INT(messages, *ends[i].words != '\0');
		CHECK(strstr(written, ends[i].words) != NULL);
	}
	end_screens();
}

static bool show_waiting(uint64_t guild, struct vision_show *out, void *arg)
{
	(void)arg;
	*out = (struct vision_show){.guild = guild,
				    .channel = media_call_want(s.call)->channel,
				    .user = ALICE,
				    .announced = true};
	return true;
}

TEST(the_list_of_screens_has_the_video_of_ours)
{
	if (!begin_screens()) {
		CHECK(!"no scene");
		return;
	}
	call_tool(TOOL_SCREEN_LIST, ALICE, 3, "");
	CHECK(strstr(output, "\"own\":null") != NULL);
	vision.streams.nowh = show_waiting;
	call_tool(TOOL_SCREEN_LIST, ALICE, 3, "");
	CHECK(strstr(output,
		     "\"own\":{\"kind\":\"video\",\"state\":\"waiting\",\"askedBy\":\"alice\"") !=
	      NULL);
	end_screens();
}
