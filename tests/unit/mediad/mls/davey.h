/* Recorded from @snazzah/davey 0.1.12 (and its follower): a key package with its reference, and a
 * group's ratchet tree after a commit that removed its first member, with the tree hash. */
#ifndef TESTS_UNIT_MEDIAD_MLS_DAVEY_H
#define TESTS_UNIT_MEDIAD_MLS_DAVEY_H

#define DAVEY_KEY_PACKAGE                                                                          \
	"000100024041040646287ce51d30c0936b3da6cb7c8694bd0ea7edc814dc6289d97bce9a7f0b67a5728db1bc" \
	"29b9cb2d30f836abe5f4"                                                                     \
	"c0cf1754c6ea4cbe31981840ccbbb297c540410438fb4fa2134a4badc44be672f830a518bb8ed0ab43b344f0" \
	"cfbdee388efe7e0b1479"                                                                     \
	"41c93dc77076413a4292234dd4d4d9b75d7dcfe1be0a895540b96b5dea52404104496bd3763f10e5488a2b47" \
	"00320985f108982aac4c"                                                                     \
	"b1654b2d06754dfcc0a6fc1c4dd804d7b8194cd7d91845b9b24ebc245bf42f384369ada4ad41c6a57bcb1d00" \
	"01080f20e5821b3adf79"                                                                     \
	"0200010200020000020001010000000000000000ffffffffffffffff0040483046022100e1e50594f7776657" \
	"c6df0377831d10eee0e3"                                                                     \
	"788eaf0b7ecc79b5e74d66bcce340221008b91dc5a5f9917bef9b22750e7eb07cdbf244e74a8cc1814921bc0" \
	"b9edc621860040463044"                                                                     \
	"02200d0fc947d042dde3eaf06ea93f6cea3d0a64f05f2bff21be775eee3d38bb0c52022064c6388e3f888cb0" \
	"db5ca0c4b110453050d4"                                                                     \
	"0f6153088f94c6e357d3e477e292"
#define DAVEY_KEY_PACKAGE_REF "ebb35fa914978f3ccb873323a3ec7d8dd4aaf16098add8edbb427efd8e7240c0"
#define DAVEY_GROUP_ID	      "0cde77eadc823033"
#define DAVEY_TREE_HASH	      "ad1ef8232d44dafde8de07c96924037600c4ad1d686d80d3551638175cc8f656"
#define DAVEY_TREE                                                                                 \
	"43ab0000010140410438fb4fa2134a4badc44be672f830a518bb8ed0ab43b344f0cfbdee388efe7e0b147941" \
	"c93dc77076413a429223"                                                                     \
	"4dd4d4d9b75d7dcfe1be0a895540b96b5dea52404104496bd3763f10e5488a2b4700320985f108982aac4cb1" \
	"654b2d06754dfcc0a6fc"                                                                     \
	"1c4dd804d7b8194cd7d91845b9b24ebc245bf42f384369ada4ad41c6a57bcb1d0001080f20e5821b3adf7902" \
	"00010200020000020001"                                                                     \
	"010000000000000000ffffffffffffffff0040483046022100e1e50594f7776657c6df0377831d10eee0e378" \
	"8eaf0b7ecc79b5e74d66"                                                                     \
	"bcce340221008b91dc5a5f9917bef9b22750e7eb07cdbf244e74a8cc1814921bc0b9edc621860102404104c1" \
	"8a6680398ba622619c22"                                                                     \
	"85d9be8b908ac23d656e366f72df020f602142563e606f5b43b869761bcbd87e8cde01428b9a05dc2e5d3ced" \
	"688fd6614d1b7d1fca00"                                                                     \
	"000101404104f363328b36e58c933c8eca2c8182996ed2b95af97ee367983ef05917c9dc1fac1e60bcd32667" \
	"1c74e3cc98ed049142e3"                                                                     \
	"10e191c62dcd191be82365d715b335b34041045e6ea1fd027ae488959e14efff646aec134121aaa39b40c99b" \
	"2d5cfec67da2d757ac14"                                                                     \
	"35533151be4fb3ddafad29efb26f4d81633ea90b84e4a09742ffe4e437000108023339994002000002000102" \
	"00020000020001010000"                                                                     \
	"000000000000ffffffffffffffff00404630440220073227fe0cdc26a7cbb1991ed27aace8d678f8c1352fab" \
	"d963752848f574f66202"                                                                     \
	"2025c747b14692420e543cec21438d08bb845b3bdcebd5c5a2303cd2b07bc092a00102404104a0d35e22c02f" \
	"1c3d25584d94785c96a3"                                                                     \
	"79feab961aa30f4617a8d11829219c30c9fc5e93c905e91e43b5f8a50622388757c8347466215b3d26ebccdf" \
	"661393672060fd241565"                                                                     \
	"a27dbe9074ec2377c202c87fa91f9d058555e69830d188ab2a7c7d000101404104027bb88e181adf3a7bdecc" \
	"afce1a31091a8ac29fe9"                                                                     \
	"b55a302a764560752dddff8b83c134a02bdf524e1a3d2176f680dd5a61c70b002808872767c8ffa1af9a1e40" \
	"41046bc5353a32b655b3"                                                                     \
	"be26b8f2013fd73de66508478a654132a118a1bd77abcc2906bc96ce9e9ed07bfa85707f5a35c1f6384f1e3a" \
	"24bb0f524ce8a464e59e"                                                                     \
	"e4e8000108036cdba484bfc18b0200010200020000020001032072b15f6d9ea326dfde810e0f24dae48e0c76" \
	"21ff58537665a7b4af73"                                                                     \
	"444cc7bb004046304402207ede4aafec98a02233dfc91d95b74118918fd81f5a5270f343b84d1a4b70cfe602" \
	"204be89bc7476b0f3a5a"                                                                     \
	"87c61b33d24510d392cee870cf9d735150e8e778266e5d"

#endif
