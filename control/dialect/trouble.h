/* What a refusal, the reason of a failure or of a close says of a provider. */
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
