#include "tests/unit/control/music/player_scene.h"

struct music_queue *player_queue;
struct music_player player;
char player_orders[512];
size_t player_orders_n;

void player_note_order(const struct music_order *o, void *arg)
{
	static const char *const names[] = {"PLAY", "NEXT", "PAUSE", "RESUME",
					    "SEEK", "GAIN", "STOP",  "CLAIM"};
	size_t n = strlen(player_orders), *count = arg;

	++*count;
	n += (size_t)snprintf(player_orders + n, sizeof player_orders - n, "%s%u", names[o->kind],
			      o->music);
	if (o->kind == MUSIC_ORDER_PLAY || o->kind == MUSIC_ORDER_NEXT)
		n += (size_t)snprintf(player_orders + n, sizeof player_orders - n, "%s",
				      o->track ? o->track->title : "-");
	if (o->kind == MUSIC_ORDER_PLAY || o->kind == MUSIC_ORDER_SEEK)
		n += (size_t)snprintf(player_orders + n, sizeof player_orders - n, "@%u%s",
				      (unsigned)o->position, o->paused ? "p" : "");
	if (o->kind == MUSIC_ORDER_GAIN)
		n += (size_t)snprintf(player_orders + n, sizeof player_orders - n, "=%u",
				      o->volume);
	snprintf(player_orders + n, sizeof player_orders - n, " ");
}

const char *player_take_orders(void)
{
	static char taken[sizeof player_orders];

	strcpy(taken, player_orders);
	*player_orders = '\0';
	return taken;
}

void player_begin(const char *letters)
{
	*player_orders = '\0';
	player_queue = NULL;
	CHECK_INT(music_queue_alloc(&player_queue, GUILD, CHANNEL), 0);
	CHECK_INT(add_letters(player_queue, letters, ALICE), 0);
	music_player_init(&player, player_queue, player_note_order, &player_orders_n);
}

void player_report(uint32_t music, enum music_phase phase, uint64_t position)
{
	music_player_report(&player, &(struct music_report){
					     .music = music, .phase = phase, .position = position});
}

const char *player_up(void)
{
	music_player_up(&player);
	return player_take_orders();
}

const char *player_sync(void)
{
	music_player_sync(&player);
	return player_take_orders();
}
