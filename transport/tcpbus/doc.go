// Package tcpbus connects hosts by direct links with mutual TLS 1.3. There is no
// broker: a host that wants to hear another one dials it.
//
//	hearer → sender   hello: "wdgnnTB1", hearer u32, sender u32, idle u32 in ms
//	sender → hearer   welcome: "wdgnnTB1", sender u32
//	                  then frames: length u32, bytes; a length of 2³²−1 is a beat,
//	                  2³²−1−n asks for n further lanes
//	hearer → sender   one byte 0x2e for each beat
//
// Numbers are little-endian. Each side believes the other's certificate, and
// refuses a hello or welcome that says otherwise. A link on which nothing
// arrives for a while is given up; the hearer dials again, later and later.
//
// Where packets are lost a sender asks for further connections, lanes, which carry
// copies of its frames; the hello of the second says "wdgnnTB2", of the third "wdgnnTB3".
// Whether both sides know them is agreed on by TLS (ALPN wdgnn-tcpbus/2, else /1).
package tcpbus
