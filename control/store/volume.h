/* True if a folder lies on encrypted storage, as the kernel tells it: dm-crypt (also below LVM),
 * ecryptfs, fscrypt. */
#ifndef CONTROL_STORE_VOLUME_H
#define CONTROL_STORE_VOLUME_H

enum volume {
	VOLUME_UNKNOWN, /* as in a container or on a network file system */
	VOLUME_CLEAR,
	VOLUME_ENCRYPTED,
};

/* root: "" or a folder with proc/self/mountinfo and sys/dev/block in it, for tests. */
enum volume volume_of(const char *dir, const char *root);

#endif
