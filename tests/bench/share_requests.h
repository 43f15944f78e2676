/* Requests that try to show a picture in somebody else's name, through the web server and its
 * parser of heads and cookies: with guessed, changed, swapped and foreign tokens and cookies, in
 * cookies of other names, from other sites, after the requester left or moved, by programs without
 * their token or for people who are not watched, and races of two browsers for one link. */
#ifndef TESTS_BENCH_SHARE_REQUESTS_H
#define TESTS_BENCH_SHARE_REQUESTS_H

struct share_requests {
	unsigned tries, taken; /* taken: answered by anything but a refusal */
};

/* Ends the bench if the server refuses the rightful browser, or does not answer. */
struct share_requests share_requests_run(unsigned tries);

#endif
