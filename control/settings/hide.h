/* A document of settings for strangers: what it holds of numbers, switches and words stays, and of
 * its texts only that there are some. They may be ids of people, secrets, command lines,
 * environments, addresses of a network, prompts and names. Pure. */
#ifndef CONTROL_SETTINGS_HIDE_H
#define CONTROL_SETTINGS_HIDE_H

struct json_t;

/* Changes the value: texts become "id", "address" or "text", but for words that a setting or a
 * record can have, names of records and models. Names of members stay, as those of servers in
 * `guilds`. */
void settings_hide_texts(struct json_t *value);

#endif
