/* Trouble of a provider, by a refusal or the reason of a failure or close. */
#ifndef CONTROL_DIALECT_TROUBLE_H
#define CONTROL_DIALECT_TROUBLE_H

enum trouble {
	TROUBLE_OTHER,
	TROUBLE_KEY,	     /* the key is not accepted */
	TROUBLE_CREDIT,	     /* nothing is left to spend */
	TROUBLE_BUSY,	     /* too much was asked at once */
	TROUBLE_UNREACHABLE, /* it was not reached */
};

#endif
